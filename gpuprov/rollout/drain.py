"""Work goes off a host before it is disturbed, and may come back once the host is proven.

A mark on the host says how gpuprov drained it, so that the next run gives back what a killed one left drained.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Host
from gpuprov.model.progress import Progress, Report
from gpuprov.rollout.command import CommandDrain, interrupted
from gpuprov.rollout.marks import DRAINED, FOLDER, PROVEN
from gpuprov.rollout.reboot import Connect
from gpuprov.rollout.slurm import SlurmNode
from gpuprov.rollout.types import Target, Tools, disturbs
from gpuprov.spec.rollout import DrainSpec, RolloutSpec
from gpuprov.spec.times import seconds_of

_COMMAND_SECONDS: Final = 20.0
_POLL_SECONDS: Final = 5.0


class Work(Protocol):
    """What gives a host its work."""

    def take(self) -> str:
        """Let no new work begin on the host; a sentence where that is not ours to end. It fails as if never asked."""

    def busy(self) -> str:
        """What still runs on the host, in words; empty when it is free."""

    def give(self) -> str:
        """Let work begin again where we ended it; a sentence where the host stays without work."""


class Drainable(Protocol):
    """A host with what its pool says of draining: one of a rollout, or one that is about to go."""

    @property
    def host(self) -> Host:
        """The host."""

    @property
    def steps(self) -> RolloutSpec:
        """Its pool's rollout."""

    @property
    def scheduler(self) -> Host | None:
        """Where Slurm's commands run; None: on the host itself."""


class Hands(Protocol):
    """What a drain needs of a run's tools."""

    @property
    def connect(self) -> Connect:
        """Reaches a host."""

    @property
    def record(self) -> Callable[[str, str, Mapping[str, object]], None]:
        """Writes a journal entry."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Drained:
    """How a drain went."""

    notes: tuple[str, ...] = ()
    refused: tuple[Diagnostic, ...] = ()
    """Why the host must not be touched; it has its work again."""


def is_drained_first(target: Target) -> bool:
    """Whether work goes off a host before its plan is carried out."""
    return target.steps.drain is not None and disturbs(target.plan)


def take_work_off(target: Target, *, tools: Tools, report: Report, cancel: threading.Event) -> Drained:
    """Drain a host if its pool says how and its plan disturbs it, and wait until nothing runs on it any more."""
    drain = target.steps.drain
    if drain is None or not is_drained_first(target):
        return Drained()
    return drain_host(target, drain, tools=tools, report=report, cancel=cancel)


def drain_host(
    target: Drainable, drain: DrainSpec, *, tools: Hands, report: Report, cancel: threading.Event
) -> Drained:
    """Take the work off a host, whatever is to become of it, and wait until nothing runs on it any more."""
    name = target.host.name
    tools.record("drain", "begin", {"host": name, "by": drain.by})
    work = _work(target, drain, tools, cancel)
    try:
        note = _take(target, work, drain, tools)
        try:
            _wait(target, work, drain, report=report, cancel=cancel)
        except GpuprovError as error:
            back = give_back(target, drain.by, tools=tools, report=report, cancel=cancel)
            raise GpuprovError(*error.diagnostics, *back.refused) from error
    except GpuprovError as error:
        tools.record("drain", "end", {"host": name, "free": False})
        return Drained(refused=error.diagnostics)
    tools.record("drain", "end", {"host": name, "free": True})
    report(Progress(phase="drain", subject=name, text=note or "free of work", finished=True))
    return Drained(notes=(note,) if note else ())


def give_back(target: Drainable, mark: str, *, tools: Hands, report: Report, cancel: threading.Event) -> Drained:
    """Give a host its work back that gpuprov took off it.

    Args:
        target: the host.
        mark: what the host's mark says; empty for a host that has none.
        tools: the rooms.
        report: where progress goes.
        cancel: ends waiting.
    """
    if not mark:
        return Drained()
    name, drain = target.host.name, target.steps.drain
    if mark != "slurm" and (drain is None or drain.by != mark):
        return Drained(refused=(_no_way_back(name, mark),))
    # A node of Slurm carries our mark in Slurm too: it can be returned when the spec no longer speaks of it.
    drain = drain if drain is not None and drain.by == mark else DrainSpec(by=mark)
    tools.record("give back", "begin", {"host": name, "by": mark})
    try:
        note = _work(target, drain, tools, cancel).give()
        _remove_mark(target, tools)
    except GpuprovError as error:
        return Drained(refused=error.diagnostics)
    tools.record("give back", "end", {"host": name, "note": note})
    report(Progress(phase="drain", subject=name, text=note or "gets work again", finished=True))
    return Drained(notes=(note,) if note else ())


def _work(target: Drainable, drain: DrainSpec, tools: Hands, cancel: threading.Event) -> Work:
    if drain.by == "slurm":
        return SlurmNode(target.host, target.scheduler or target.host, tools.connect, cancel)
    return CommandDrain(target.host, command=drain.command, back=drain.back, wait=seconds_of(drain.wait), cancel=cancel)


def _take(target: Drainable, work: Work, drain: DrainSpec, tools: Hands) -> str:
    """Mark the host, then take its work: a run that is killed in between leaves a mark too many, not one too few."""
    write_mark(target, drain.by, tools)
    try:
        return work.take()
    except GpuprovError:
        _remove_mark(target, tools)
        raise


def _wait(target: Drainable, work: Work, drain: DrainSpec, *, report: Report, cancel: threading.Event) -> None:
    started, said = time.monotonic(), ""
    while busy := work.busy():
        if cancel.is_set():
            raise GpuprovError(interrupted(target.host.name))
        if time.monotonic() - started > seconds_of(drain.wait):
            raise GpuprovError(
                Diagnostic(
                    code="GP-ROLL-005",
                    address=target.host.name,
                    summary=f"the host is still busy after {drain.wait}; nothing was changed on it",
                    detail=busy,
                    hint="wait for that work or end it, or give it longer with `drain: {wait: ...}`",
                )
            )
        if busy != said:
            text = f"waiting up to {drain.wait} for {busy}"
            report(Progress(phase="drain", subject=target.host.name, text=text))
            said = busy
        cancel.wait(_POLL_SECONDS)


def write_mark(target: Drainable, by: str, tools: Hands) -> None:
    """Write on a host that its work was taken by us: whoever proves it next gives it back."""
    transport = tools.connect(target.host)
    try:
        # The last proof is of a host in service: without it, the next run looks at the host and gives it back.
        transport.run(f"mkdir -p -m 0755 {FOLDER}; rm -f {PROVEN}", timeout=_COMMAND_SECONDS, root=True)
        transport.put(f"{by}\n".encode(), DRAINED, mode=0o644, root=True)
    finally:
        transport.close()


def _remove_mark(target: Drainable, tools: Hands) -> None:
    transport = tools.connect(target.host)
    try:
        transport.run(f"rm -f {DRAINED}", timeout=_COMMAND_SECONDS, root=True)
    finally:
        transport.close()


def _no_way_back(host: str, mark: str) -> Diagnostic:
    return Diagnostic(
        code="GP-ROLL-007",
        address=host,
        summary=f"gpuprov drained the host by {mark}, and the spec no longer says how it is given back",
        hint=f"give it back by hand, then remove {DRAINED} there",
    )
