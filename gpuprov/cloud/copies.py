"""Copies of a stack's state: made before each update, pruned, and the engine's own kept within bounds."""

import shutil
import time
from collections.abc import Mapping
from typing import Any, Final

from gpuprov.cloud.files import StateFiles
from gpuprov.cloud.mark import set_mark
from gpuprov.cloud.moved import forget_backend
from gpuprov.cloud.state import parse_checkpoint, state_of
from gpuprov.cloud.state_names import engine_backups, engine_history, own_backups, state_name
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.stack_record import CopyOrigin, StateCopy

_KEPT: Final = 10
"""So many backups of ours, and so many files of the engine's own history, which it never prunes, are kept."""


def back_up(place: StackPlace) -> str | None:
    """Keep a copy of the state before it is written, and give its name; None when there is no state yet."""
    data = place.files.read(state_name(place))
    if data is None:
        return None
    folder = own_backups(place)
    now = time.time_ns()  # read once: the newest copy must have the last name
    when = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 1_000_000_000)) + f".{now % 1_000_000_000:09d}Z"
    # A broken state is kept as it is, too: it may be all that there is.
    place.files.write(f"{folder}/{when}.json", data.decode("utf-8", "replace"))
    _prune(place.files, folder, _KEPT)
    return f"{folder}/{when}.json"


def copies(place: StackPlace) -> tuple[StateCopy, ...]:
    """All copies of a stack's state, newest first; each is read to see whether it is whole."""
    files = place.files
    found = [
        *((name, CopyOrigin.BEFORE) for name in files.names(own_backups(place))),
        *((name, CopyOrigin.AFTER) for name in files.names(engine_backups(place)) if name.endswith(".json")),
        (f"{state_name(place)}.bak", CopyOrigin.LAST),
    ]
    rows = (_copy(files, name, origin) for name, origin in found)
    return tuple(sorted((row for row in rows if row is not None), key=lambda row: row.written, reverse=True))


def read_copy(place: StackPlace, copy: StateCopy) -> tuple[str, Mapping[str, Any]]:
    """The text of a copy, and its deployment.

    Raises:
        GpuprovError: GP-CLOUD-013 when it is broken.
    """
    name = _full_name(place, copy)
    text = (place.files.read(name) or b"").decode("utf-8", "replace")
    try:
        return text, parse_checkpoint(text)
    except ValueError as error:
        raise GpuprovError(
            Diagnostic(
                code="GP-CLOUD-013",
                address=place.files.shown(name),
                summary=f"this copy of the state is broken: {error}",
                detail="nothing was changed",
                hint="`gpuprov state list` shows the whole ones",
            )
        ) from error


def put_back(place: StackPlace, text: str) -> str | None:
    """Make a copy the state; what was the state is kept first, whatever it is.

    Until an update ends well, everything that it would create is looked for in the account.

    Returns:
        The name of the copy of what was there; None when nothing was.
    """
    kept = back_up(place)
    place.files.write(state_name(place), text)
    set_mark(place, ())
    return kept


def prune_history(place: StackPlace) -> None:
    """Keep the newest files of the engine's own history and backups: it adds to them with every update, for ever."""
    _prune(place.files, engine_backups(place), _KEPT)
    # An update leaves two files there: what it was, and the checkpoint.
    _prune(place.files, engine_history(place), 2 * _KEPT)


def remove_files(place: StackPlace) -> None:
    """Delete what is left of a stack that holds nothing any more: the engine's copies, its work folder."""
    for folder in (engine_backups(place), engine_history(place)):
        _prune(place.files, folder, 0)
    shutil.rmtree(place.folder / "work" / place.name, ignore_errors=True)
    forget_backend(place)


def _copy(files: StateFiles, name: str, origin: CopyOrigin) -> StateCopy | None:
    written, data = files.changed(name), files.read(name)
    if written is None or data is None:
        return None
    short = name.rpartition("/")[2]
    try:
        held = state_of(parse_checkpoint(data.decode()))
    except ValueError as error:  # a UnicodeDecodeError is one
        return StateCopy(name=short, origin=origin, written=written, resources=None, broken=str(error))
    return StateCopy(name=short, origin=origin, written=written, resources=len(held.resources))


def _full_name(place: StackPlace, copy: StateCopy) -> str:
    if copy.origin is CopyOrigin.LAST:
        return f"{state_name(place)}.bak"
    return f"{own_backups(place) if copy.origin is CopyOrigin.BEFORE else engine_backups(place)}/{copy.name}"


def _prune(files: StateFiles, folder: str, keep: int) -> None:
    names = files.names(folder)
    for name in names[: max(len(names) - keep, 0)]:
        files.remove(name)
