"""Events of one play -> the outcome of each host."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpuprov.converge.errors import diagnose
from gpuprov.converge.events import Kind, TaskEvent
from gpuprov.converge.types import Foresight, HostOutcome, HostStatus
from gpuprov.model.diagnostic import Diagnostic


class Tally:
    """Collects what the events of one host say."""

    def __init__(self, host: str, log: Path) -> None:
        self.host = host
        self.log = log
        """Where Ansible's output is kept, for hints."""
        self.in_flight = ""
        """The task that runs now; empty between tasks."""
        self._status: HostStatus | None = None
        self._changed = 0
        self._tasks = 0
        self._diagnostics: list[Diagnostic] = []
        self._packages: list[str] = []
        self._others: list[str] = []
        self._notes: list[str] = []
        self._foresight: Foresight | None = None
        self._removed: tuple[str, ...] = ()

    def take(self, event: TaskEvent) -> None:
        """Take one event of this host."""
        self.in_flight = event.task if event.kind is Kind.STARTED else ""
        self._tasks += event.on_host
        self._changed += event.on_host and event.changed
        if event.kind in {Kind.FAILED, Kind.UNREACHABLE}:
            self._status = HostStatus.FAILED if event.kind is Kind.FAILED else HostStatus.UNREACHABLE
            self._diagnostics.append(diagnose(event, log=self.log))
            self._removed = _removed(event.result)
        if event.kind is Kind.OK:
            self._packages += _moves(event.result, "packages")
            self._others += _moves(event.result, "others")
            self._notes += _notes(event)
            self._foresight = _foresight(event.result) or self._foresight

    def outcome(self, *, ended: bool, cancelled: bool, tail: str) -> HostOutcome:
        """Say how the play ended on the host.

        Args:
            ended: whether Ansible came to its own end.
            cancelled: whether it was told to stop.
            tail: the last lines that Ansible printed, for an end without a reason.
        """
        status, diagnostics = self._status, list(self._diagnostics)
        if status is None and ended and self._tasks:
            status = HostStatus.OK
        elif status is None:
            status = HostStatus.CANCELLED if cancelled else HostStatus.FAILED
            diagnostics.append(_unfinished(self, cancelled=cancelled, tail=tail))
        return HostOutcome(
            status=status,
            changed=self._changed,
            tasks=self._tasks,
            diagnostics=tuple(diagnostics),
            packages=tuple(self._packages),
            others=tuple(self._others),
            notes=tuple(dict.fromkeys(self._notes)),
            foresight=self._foresight,
            removed=self._removed,
        )


def _foresight(result: Mapping[str, Any]) -> Foresight | None:
    """What a module that judged a transaction without running it said of its needs."""
    if result.get("judged_only") is not True or "download" not in result:
        return None
    rollback = result.get("rollback")
    return Foresight(
        download=int(result["download"]),
        growth=int(result.get("growth", 0)),
        rollback=rollback if isinstance(rollback, Mapping) else {},
    )


def _removed(result: Mapping[str, Any]) -> tuple[str, ...]:
    ours = result.get("gpuprov")
    names = ours.get("removed") if isinstance(ours, Mapping) else None
    return tuple(str(name) for name in names) if isinstance(names, list) else ()


def _moves(result: Mapping[str, Any], key: str) -> list[str]:
    rows = result.get(key)
    if not isinstance(rows, list):
        return []
    return [
        f"{row['name']} {row.get('from') or 'absent'} -> {row.get('to') or 'absent'}"
        for row in rows
        if isinstance(row, Mapping) and "name" in row
    ]


def _notes(event: TaskEvent) -> list[str]:
    notes = [str(note) for note in event.result.get("notes") or []]
    notes += [str(row["reason"]) for row in event.result.get("deferred") or []]
    notes += [f"{name} stays: gpuprov did not install it" for name in event.result.get("kept") or []]
    return notes


def _unfinished(tally: Tally, *, cancelled: bool, tail: str) -> Diagnostic:
    if cancelled:
        return Diagnostic(
            code="GP-RUN-003",
            address=tally.host,
            summary="the run was interrupted before the host was done",
            detail="a package transaction that had begun goes on by itself on the host",
            hint="run the same command again: it waits for such a transaction and goes on from there",
        )
    return Diagnostic(
        code="GP-CONV-001",
        address=tally.host,
        summary="Ansible ended before the host was done, without saying why",
        detail=tail,
        hint=f"run the same command again; all that Ansible printed is in {tally.log}",
    )
