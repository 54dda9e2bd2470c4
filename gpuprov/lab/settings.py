"""The machine's own kernel settings that labs need: raised by the first lab, given back by the last."""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gpuprov.lab.command import failure
from gpuprov.lab.names import ROOT

NEEDED = {"net.ipv4.ip_forward": 1, "fs.inotify.max_user_instances": 8192}
"""Least values: routing for the nodes, and about nine inotify instances for each of them (measured 2026-11-30)."""
_KERNEL = Path("/proc/sys")


def raise_settings(lab: str) -> None:
    """Raise what is too low, having written down what it was; and count this lab among the users.

    Raises:
        GpuprovError: the kernel refuses.
    """
    with machine_lock():
        record = _load()
        low = {name: read(name) for name, least in NEEDED.items() if read(name) < least}
        _save(_Record(labs=record.labs | {lab}, before={**low, **record.before}))
        for name in low:
            write(name, NEEDED[name])


def restore_settings(lab: str) -> None:
    """Strike this lab from the users; with the last one, give back each setting that still has our value."""
    with machine_lock():
        record = _load()
        labs = record.labs - {lab}
        if labs:
            _save(_Record(labs=labs, before=record.before))
            return
        for name, value in record.before.items():
            if read(name) == NEEDED[name]:
                write(name, value)
        _record_file().unlink(missing_ok=True)


def read(name: str) -> int:
    """Read a kernel setting."""
    return int(_place(name).read_text(encoding="ascii"))


def write(name: str, value: int) -> None:
    """Set a kernel setting.

    Raises:
        GpuprovError: the kernel refuses.
    """
    try:
        _place(name).write_text(f"{value}\n", encoding="ascii")
    except OSError as error:
        raise failure(f"the kernel setting {name} cannot be set to {value}", detail=str(error)) from error


def _place(name: str) -> Path:
    """Where the kernel shows a setting."""
    return _KERNEL / name.replace(".", "/")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Record:
    """Which labs need the settings, and what the settings were before the first of them."""

    labs: frozenset[str] = frozenset()
    before: dict[str, int] = field(default_factory=dict)


def _record_file() -> Path:
    """Where the record is."""
    return ROOT / "machine.json"


@contextmanager
def machine_lock() -> Iterator[None]:
    """Let one process at a time work on what all labs share: kernel settings and free address ranges."""
    ROOT.mkdir(parents=True, exist_ok=True)
    with (ROOT / ".machine.lock").open("w", encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _load() -> _Record:
    """Read the record; without one, no lab is up."""
    place = _record_file()
    if not place.exists():
        return _Record()
    stored = json.loads(place.read_text(encoding="utf-8"))
    return _Record(labs=frozenset(stored["labs"]), before=stored["before"])


def _save(record: _Record) -> None:
    """Write the record whole or not at all."""
    beside = _record_file().with_suffix(".new")
    beside.write_text(json.dumps({"labs": sorted(record.labs), "before": record.before}), encoding="utf-8")
    beside.replace(_record_file())
