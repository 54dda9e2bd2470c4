"""Who holds a stack's state, by the lock files of the engine."""

import json
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from gpuprov.cloud.state_names import locks_folder
from gpuprov.cloud.types import StackPlace

_SLACK: Final = 5.0
"""Seconds: the lock has whole seconds, and a machine's boot time moves when its clock is set."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LockHolder:
    """Who holds a stack's state, by the engine's own lock file."""

    pid: int
    user: str
    host: str
    since: str
    """UTC time, ISO."""
    name: str
    """Of the lock file, among the stack's files."""
    shown: str
    """The lock file as people find it."""
    alive: bool | None
    """Whether that process still runs; None for another machine's."""


def read_lock(place: StackPlace) -> LockHolder | None:
    """Who holds the stack, by the newest lock file; one whose process is gone is told by `alive`."""
    found: LockHolder | None = None
    for holder in read_locks(place):
        if found is None or found.alive is False:
            found = holder
    return found


def read_locks(place: StackPlace) -> tuple[LockHolder, ...]:
    """All who hold the stack: an engine that meets another's lock takes its own away again, if it gets that far."""
    files = place.files
    return tuple(
        _holder(name, files.shown(name), data)
        for name in files.names(locks_folder(place))
        # In a folder the engine keeps attributes beside each file, in one of its own.
        if name.endswith(".json")
        # None: let go between listing and reading.
        if (data := files.read(name)) is not None
    )


def drop_stale_locks(place: StackPlace) -> tuple[LockHolder, ...]:
    """Delete the lock files of engines of this machine that are gone, and say whose they were."""
    dropped = tuple(holder for holder in read_locks(place) if holder.alive is False)
    for holder in dropped:
        place.files.remove(holder.name)
    return dropped


def _holder(name: str, shown: str, data: bytes) -> LockHolder:
    try:
        value: Mapping[str, Any] = json.loads(data)
        pid, user = int(value["pid"]), str(value["username"])
        host, since = str(value["hostname"]), str(value["timestamp"])
    except (ValueError, TypeError, KeyError):
        # Written just now, or cut off by a full disk: nobody knows whose it is.
        return LockHolder(pid=0, user="", host="", since="", name=name, shown=shown, alive=None)
    alive = _alive(pid, since) if host == socket.gethostname() else None
    return LockHolder(pid=pid, user=user, host=host, since=since, name=name, shown=shown, alive=alive)


def _alive(pid: int, since: str) -> bool:
    """Whether the process that wrote a lock still runs: a later process may have got its number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        return _began(pid) <= datetime.fromisoformat(since).timestamp() + _SLACK
    except (OSError, ValueError, IndexError):
        return Path(f"/proc/{pid}").exists()


def _began(pid: int) -> float:
    """When a process began, in seconds since the epoch: field 22 of proc(5)'s stat, in ticks since the boot."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    boot = re.search(r"^btime (\d+)", Path("/proc/stat").read_text(encoding="utf-8"), re.MULTILINE)
    return int(boot[1] if boot else 0) + int(fields[19]) / os.sysconf("SC_CLK_TCK")
