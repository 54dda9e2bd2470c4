"""The run journal: what a run was asked, and what it did, step by step, durable before and after each step.

.gpuprov/runs/<utc time>-<id>/
    journal.jsonl    one JSON object a line: {"at": ..., "event": "begin" | "end" | "note", "step": ..., ...}
    log              what the run's tools printed
    spec.yaml lock.json plan.json wants/<host>.json   what the run was computed from, in full
"""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.store.files import make_folder, read_text, sync_folder, write_text
from gpuprov.store.lock import owner_now
from gpuprov.store.old_runs import prune_runs
from gpuprov.store.site import runs_folder

JOURNAL: Final = "journal.jsonl"
LOG: Final = "log"
RUN_STEP: Final = "run"
"""The step that is the whole run; its `end` says how the run ended."""


class Journal:
    """The journal of one run, open for writing.

    Args:
        folder: the run's folder; it exists.
        command: what is run, such as `up`.
    """

    def __init__(self, folder: Path, command: str) -> None:
        self.folder = folder
        self.command = command
        self.result: dict[str, Any] = {}
        """What the run's last entry says: `status`, and the state of each host."""
        self.log_trouble = ""
        """Why the log ends early; empty while all is well."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            self._descriptor = os.open(folder / JOURNAL, flags, 0o644)
            sync_folder(folder)
        except OSError as error:
            raise GpuprovError(_unwritable(folder, error)) from error

    @property
    def name(self) -> str:
        """The run's name."""
        return self.folder.name

    @property
    def log(self) -> Path:
        """The run's log file."""
        return self.folder / LOG

    def write(self, event: str, step: str, **fields: Any) -> None:
        """Append one entry and make it durable before anything else happens.

        Args:
            event: `begin`, `end` or `note`.
            step: such as `run`, `converge node-1`.
            fields: plain values.
        """
        entry = {"at": _now(), "event": event, "step": step, **fields}
        data = (json.dumps(entry, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
        try:
            _write_all(self._descriptor, data)
            os.fsync(self._descriptor)
        except OSError as error:
            raise GpuprovError(_unwritable(self.folder, error)) from error

    @contextlib.contextmanager
    def step(self, step: str, **fields: Any) -> Iterator[dict[str, Any]]:
        """Write an entry before and after a step; what the caller puts into the dict goes into the second one.

        A step that raises ends with `ok: false` and the error's first line. A killed run leaves a step without an end.
        """
        self.write("begin", step, **fields)
        result: dict[str, Any] = {}
        try:
            yield result
        except BaseException as error:
            lines = str(error).splitlines() or [type(error).__name__]
            self.write("end", step, ok=False, error=lines[0], **result)
            raise
        self.write("end", step, **{"ok": True, **result})

    def keep(self, name: str, text: str) -> None:
        """Keep a copy of a document in the run's folder, such as `spec.yaml` or `wants/node-1.json`."""
        path = self.folder / name
        make_folder(path.parent)
        write_text(path, text)

    def say(self, line: str) -> None:
        """Append a line to the run's log, for people; it is no part of the record, so it is not forced to disk."""
        if self.log_trouble:
            return
        try:
            with self.log.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{_now()} {line}\n")
        except OSError as error:
            # A full disk here is no reason to leave hosts half way; the run's result tells it.
            self.log_trouble = error.strerror or str(error)

    def close(self) -> None:
        """Close the journal."""
        os.close(self._descriptor)


def _unwritable(folder: Path, error: OSError) -> Diagnostic:
    return Diagnostic(
        code="GP-DOC-007",
        summary=f"cannot write the run's journal: {(error.strerror or str(error)).lower()}",
        address=str(folder / JOURNAL),
        hint="make room on the file system (`df -h`); the run stops here, the next one goes on",
    )


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@contextlib.contextmanager
def open_journal(site: Path, command: str, **asked: Any) -> Iterator[Journal]:
    """Start the journal of a run and end it with the run; runs of long ago go.

    Args:
        site: the folder `.gpuprov`.
        command: what is run, such as `up`.
        asked: how the run was asked for, as plain values: kept in its first entry.

    Raises:
        GpuprovError: GP-DOC-007 when the folder cannot be made.
    """
    name = f"{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}-{os.urandom(3).hex()}"
    folder = runs_folder(site) / name
    make_folder(folder)
    # A spec may hold what not everybody on this machine should read; so may what Ansible prints.
    folder.chmod(0o700)
    journal = Journal(folder, command)
    owner = owner_now(["gpuprov", command])
    who = {"command": command, "pid": owner.pid, "user": owner.user, "machine": owner.host}
    try:
        with journal.step(RUN_STEP, **who, **asked) as journal.result:
            for line in prune_runs(site, but=name):
                journal.write("note", "old runs", text=line)
            yield journal
    finally:
        journal.close()


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One line of a journal."""

    at: str
    event: str
    step: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """A run as its journal tells it."""

    name: str
    folder: Path
    entries: tuple[Entry, ...]
    torn: int = 0
    """Lines that are no entry: a run that was killed while it wrote leaves at most the last."""

    @property
    def ended(self) -> bool:
        """Whether the run came to its end, well or not; False for a killed or a running one."""
        return any(entry.event == "end" and entry.step == RUN_STEP for entry in self.entries)

    @property
    def open_steps(self) -> tuple[str, ...]:
        """Steps that began and never ended: where a killed run was."""
        begun = [entry.step for entry in self.entries if entry.event == "begin"]
        for entry in self.entries:
            if entry.event == "end" and entry.step in begun:
                begun.remove(entry.step)
        return tuple(begun)


def list_runs(site: Path) -> tuple[str, ...]:
    """Names of a site's runs, oldest first."""
    folder = runs_folder(site)
    if not folder.is_dir():
        return ()
    return tuple(sorted(path.name for path in folder.iterdir() if (path / JOURNAL).is_file()))


def read_run(site: Path, name: str) -> RunRecord:
    """Read a run's journal; GpuprovError with GP-DOC-001 when it cannot be read."""
    folder = runs_folder(site) / name
    lines = read_text(folder / JOURNAL).split("\n")
    entries = [_entry(line) for line in lines if line]
    return RunRecord(
        name=name,
        folder=folder,
        entries=tuple(entry for entry in entries if entry is not None),
        torn=sum(entry is None for entry in entries),
    )


def _entry(line: str) -> Entry | None:
    try:
        value = json.loads(line)
        fields = {key: member for key, member in value.items() if key not in {"at", "event", "step"}}
        return Entry(at=str(value["at"]), event=str(value["event"]), step=str(value["step"]), fields=fields)
    except (ValueError, KeyError, AttributeError):
        return None
