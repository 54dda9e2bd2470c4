"""Before a run: wait for an engine that an ended run left at work, and take away the lock of one that is gone."""

import json
import threading
import time
from pathlib import Path
from typing import Final

from gpuprov.cloud import state
from gpuprov.cloud.command import is_held
from gpuprov.cloud.state_lock import LockHolder, drop_stale_locks, read_lock
from gpuprov.cloud.state_names import attributes_names
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Progress, Report

_POLL: Final = 1.0


def stand_ready(
    place: StackPlace, hold: Path, *, patience: float, report: Report, cancel: threading.Event | None
) -> tuple[Diagnostic, ...]:
    """Have a stack that nobody works on.

    Args:
        place: which stack.
        hold: the file that an engine at work has locked.
        patience: seconds to wait for one.
        report: where progress goes.
        cancel: ends the waiting.

    Returns:
        A note for each thing that was waited for or taken away.

    Raises:
        GpuprovError: GP-CLOUD-011 when an engine goes on for too long, or another machine holds the state;
            GP-CLOUD-013 when the state is broken; GP-RUN-003 when it was cancelled.
    """
    told = _wait(place, hold, patience, report, cancel)
    for holder in drop_stale_locks(place):
        told += (
            _note(place, f"the engine of an earlier run (process {holder.pid}) was killed; its lock was taken away"),
        )
    _drop_torn_attributes(place)
    state.read_deployment(place)
    return told


def _drop_torn_attributes(place: StackPlace) -> None:
    """Delete files of attributes that a killed engine left empty: it can load no stack with one, and needs none.

    It writes the stack's file whole or not at all, but not these (gocloud.dev, blob/fileblob/attrs.go: setAttrs,
    getAttrs, read 2026-12-01); then every command of the engine ends with "failed to load checkpoint: EOF".
    """
    if place.bucket is not None:
        return
    for name in attributes_names(place):
        data = place.files.read(name)
        if data is None:
            continue
        try:
            json.loads(data)
        except ValueError:
            place.files.remove(name)


def interrupted() -> Diagnostic:
    """What is told of a run that was asked to stop."""
    return Diagnostic(
        code="GP-RUN-003",
        summary="the update of the cloud's resources was interrupted",
        detail="what was being made was finished and recorded; nothing else was begun",
        hint="run the same command again to go on from there",
    )


def _wait(
    place: StackPlace, hold: Path, patience: float, report: Report, cancel: threading.Event | None
) -> tuple[Diagnostic, ...]:
    began, waited = time.monotonic(), False
    while True:
        holder = read_lock(place)
        if not is_held(hold) and (holder is None or holder.alive is False):
            break
        if cancel is not None and cancel.is_set():
            raise GpuprovError(interrupted())
        foreign = holder is not None and holder.alive is None
        if foreign or time.monotonic() - began > patience:
            raise GpuprovError(_held(place, hold, holder))
        waited = True
        who = f"process {holder.pid}" if holder else "or its plugin"
        text = f"an earlier run's engine ({who}) is still at work; waiting for it to end"
        report(Progress(phase="recovery", subject=place.name, text=text))
        time.sleep(_POLL)
    if not waited:
        return ()
    report(Progress(phase="recovery", subject=place.name, text="it has ended", finished=True))
    seconds = round(time.monotonic() - began)
    return (_note(place, f"an earlier run's engine was still at work; it ended after {seconds} s"),)


def _note(place: StackPlace, text: str) -> Diagnostic:
    return Diagnostic(code="GP-CLOUD-023", severity=Severity.NOTE, address=place.name, summary=text)


def _held(place: StackPlace, hold: Path, holder: LockHolder | None) -> Diagnostic:
    if holder is None:
        return Diagnostic(
            code="GP-CLOUD-011",
            address=place.name,
            summary="an engine of an earlier run, or its plugin, still works on the stack",
            detail=f"it has this file locked: {hold}",
            hint=f"see what it does: `fuser -v {hold}`; wait until it has ended, then run the same command again",
        )
    return Diagnostic(
        code="GP-CLOUD-011",
        address=place.name,
        summary=f"the stack's state is held by {holder.user or 'somebody'} on {holder.host or 'some machine'}"
        f" (process {holder.pid}) since {holder.since}",
        detail=f"its lock file: {holder.shown}",
        hint="wait until it has ended; when you are sure that it has, on that machine: `gpuprov state unlock`",
    )
