"""A lab's record on the machine: what it is and how far it has come, written before each thing is made."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gpuprov.lab.command import failure
from gpuprov.lab.description import CloudDescription, GpuDescription, LabDescription, NodeDescription
from gpuprov.lab.names import ROOT, LabNames
from gpuprov.model.diagnostic import GpuprovError


@dataclass(frozen=True, kw_only=True, slots=True)
class LabRecord:
    """What is written down about a lab."""

    phase: str
    """"making", "up" or "removing"."""
    folder: Path
    """Where the person's files are."""
    description: LabDescription


def write_record(record: LabRecord) -> None:
    """Write a lab's record whole or not at all."""
    place = LabNames(record.description.id).record
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_suffix(".new")
    stored = {"phase": record.phase, "folder": str(record.folder), "description": asdict(record.description)}
    beside.write_text(json.dumps(stored, indent=1), encoding="utf-8")
    beside.replace(place)


def read_record(lab_id: str) -> LabRecord | None:
    """Read a lab's record; None when there is none (no such lab, or it was killed before it wrote one)."""
    place = LabNames(lab_id).record
    if not place.exists():
        return None
    stored = json.loads(place.read_text(encoding="utf-8"))
    return LabRecord(
        phase=stored["phase"], folder=Path(stored["folder"]), description=description_of(stored["description"])
    )


def description_of(stored: dict[str, Any]) -> LabDescription:
    """Turn what `asdict` made of a description back into one."""
    nodes = tuple(_node_of(node) for node in stored["nodes"])
    cloud = _cloud_of(stored.get("cloud"))
    releases = tuple(stored["driver_releases"])
    return LabDescription(**{**stored, "nodes": nodes, "driver_releases": releases, "cloud": cloud})


def _cloud_of(stored: dict[str, Any] | None) -> CloudDescription | None:
    """Turn a stored cloud back into its description; a lab of an older release has none."""
    return None if stored is None else CloudDescription(**{**stored, "hosts": tuple(stored["hosts"])})


@contextmanager
def exclusive(lab_id: str) -> Iterator[None]:
    """Hold a lab, so that no two processes make or remove it at the same time.

    Raises:
        GpuprovError: another process works on it.
    """
    ROOT.mkdir(parents=True, exist_ok=True)
    place = ROOT / f".{LabNames(lab_id).id}.lock"
    with place.open("w", encoding="ascii") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise _is_held(lab_id) from error
        # Whoever held it before removed the file: then this is a lock on nothing.
        if not place.exists() or place.stat().st_ino != os.fstat(held.fileno()).st_ino:
            raise _is_held(lab_id)
        try:
            yield
        finally:
            place.unlink(missing_ok=True)


def _is_held(lab_id: str) -> GpuprovError:
    """Make the error of a lab that another process works on."""
    return failure(f"another process is making or removing the lab {lab_id}", hint="wait for it to end")


def _node_of(stored: dict[str, Any]) -> NodeDescription:
    """Turn a stored node back into its description."""
    gpu = stored["gpu"]
    shown = None if gpu is None else GpuDescription(**{**gpu, "faults": tuple(gpu["faults"])})
    return NodeDescription(**{**stored, "gpu": shown})
