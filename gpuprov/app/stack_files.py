"""`state`: what is recorded of a site's cloud stack; putting a copy back, and taking a lock away."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from gpuprov.app.cloud_site import cloud_of, place_of
from gpuprov.app.site import open_site
from gpuprov.cloud.command import is_held
from gpuprov.cloud.copies import copies, put_back, read_copy
from gpuprov.cloud.mark import is_marked
from gpuprov.cloud.runner import hold_file
from gpuprov.cloud.secrets import refuse_other_secrets
from gpuprov.cloud.state import StackState, read_state, state_of
from gpuprov.cloud.state_lock import LockHolder, drop_stale_locks, read_locks
from gpuprov.cloud.state_names import state_name
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.stack_record import Holder, Restoring, StackRecord, StateCopy
from gpuprov.store.lock import hold_site

Agree = Callable[[Restoring], bool]
"""Shows what putting a copy back means and asks; raises GpuprovError when it cannot ask."""
AgreeUnlock = Callable[[Sequence[Holder]], bool]
"""Shows who holds the state and asks whether the lock is to go."""


def stack_record(path: Path) -> StackRecord:
    """What the files tell of a site's stack; neither the engine nor the account's resources are asked.

    Raises:
        GpuprovError: GP-SPEC-008 without a cloud target; GP-CLOUD-062 when the state's bucket cannot be read.
    """
    site = open_site(path)
    place, cloud = place_of(site, {}), cloud_of(site)
    held, broken = _read(place)
    return StackRecord(
        stack=place.name,
        backend=cloud.state.backend,
        secrets=cloud.state.secrets,
        file=place.files.shown(state_name(place)),
        resources=None if held is None else len(held.resources),
        broken=broken,
        pending=tuple((one.address, one.operation) for one in held.pending) if held else (),
        unfinished=is_marked(place),
        holders=_holders(place),
        copies=copies(place),
    )


def restore(path: Path, name: str | None, agree: Agree) -> tuple[Restoring, str | None, bool]:
    """Put a copy of the state back.

    Args:
        path: the spec.
        name: the copy, or the beginning of its name; None takes the newest whole one.
        agree: asks.

    Returns:
        What it meant, the name under which the state of before is kept, and whether it was done.

    Raises:
        GpuprovError: GP-CLOUD-063 for a name that no copy has; GP-CLOUD-013 for a broken copy; GP-CLOUD-011 while
            somebody holds the state; GP-CLOUD-061 for a copy whose secrets are under something else.
    """
    site = open_site(path)
    place = place_of(site, {})
    with hold_site(site.state, ["gpuprov", "state", "restore"]):
        _refuse_held(place)
        copy = _chosen(copies(place), name, place)
        text, deployment = read_copy(place, copy)
        refuse_other_secrets(place, deployment)
        held, broken = _read(place)
        now = set(held.resources) if held else set()
        then = set(state_of(deployment).resources)
        meaning = Restoring(
            copy=copy,
            forgotten=tuple(sorted(now - then)),
            known_again=tuple(sorted(then - now)),
            now_broken=bool(broken),
        )
        if not agree(meaning):
            return meaning, None, False
        _refuse_held(place)
        return meaning, put_back(place, text), True


def unlock(path: Path, agree: AgreeUnlock) -> tuple[tuple[Holder, ...], bool]:
    """Take the locks of a stack's state away, when who took them is gone.

    Args:
        path: the spec.
        agree: asks; not called when nobody holds it.

    Returns:
        Who held it, and whether the locks went.

    Raises:
        GpuprovError: GP-CLOUD-011 when a process of this machine that holds it still lives.
    """
    site = open_site(path)
    place = place_of(site, {})
    with hold_site(site.state, ["gpuprov", "state", "unlock"]):
        holders = _holders(place)
        if not holders and not is_held(hold_file(place)):
            return (), False
        _refuse_alive(place)
        if not agree(holders):
            return holders, False
        _refuse_alive(place)
        for one in read_locks(place):
            place.files.remove(one.name)
    return holders, True


def _read(place: StackPlace) -> tuple[StackState | None, str]:
    """The state, or why it cannot be read."""
    try:
        return read_state(place), ""
    except GpuprovError as error:
        if error.diagnostics[0].code != "GP-CLOUD-013":
            raise
        return None, error.diagnostics[0].summary


def _holders(place: StackPlace) -> tuple[Holder, ...]:
    return tuple(_holder(one) for one in read_locks(place))


def _holder(one: LockHolder) -> Holder:
    try:
        seconds = time.time() - datetime.fromisoformat(one.since).timestamp()
    except ValueError:
        seconds = None
    return Holder(
        user=one.user,
        machine=one.host,
        pid=one.pid,
        since=one.since,
        seconds=seconds,
        alive=one.alive,
        file=one.shown,
    )


def _chosen(there: Sequence[StateCopy], name: str | None, place: StackPlace) -> StateCopy:
    if name is None:
        found = [copy for copy in there if not copy.broken][:1]
    else:
        found = [copy for copy in there if copy.name == name] or [copy for copy in there if copy.name.startswith(name)]
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        summary, detail = f"several copies of the state begin with {name}", ", ".join(copy.name for copy in found)
    else:
        summary = f"there is no copy {name} of the state" if name else "there is no whole copy of the state"
        detail = f"{len(there)} copies of the stack {place.name} are kept"
    raise GpuprovError(
        Diagnostic(
            code="GP-CLOUD-063",
            address=place.name,
            summary=summary,
            detail=detail,
            hint="`gpuprov state list` shows them",
        )
    )


def _refuse_held(place: StackPlace) -> None:
    drop_stale_locks(place)
    if read_locks(place) or is_held(hold_file(place)):
        raise GpuprovError(_held(place, "the stack's state is held by a run"))


def _refuse_alive(place: StackPlace) -> None:
    living = [one for one in read_locks(place) if one.alive]
    if living:
        what = f"process {living[0].pid} of {living[0].user} still lives and holds the stack's state"
        raise GpuprovError(_held(place, what))
    if is_held(hold_file(place)):
        raise GpuprovError(_held(place, "an engine of this machine, or its plugin, is still at work on the stack"))


def _held(place: StackPlace, summary: str) -> Diagnostic:
    files = [one.shown for one in read_locks(place)] or [str(hold_file(place))]
    return Diagnostic(
        code="GP-CLOUD-011",
        address=place.name,
        summary=summary,
        detail="its lock: " + ", ".join(files),
        hint="wait until it has ended, or end it by one Ctrl-C (SIGINT), which has it finish what it began; then, if"
        " the lock stays, `gpuprov state unlock`",
    )
