"""The site's lock: one run at a time, and whoever comes second is told who holds it.

The kernel holds the lock (`flock`), so that it ends with its process, however that ends: a file that a killed run left
behind locks nobody out. The file's text is for people only.
"""

import contextlib
import errno
import fcntl
import getpass
import json
import os
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.store.files import make_folder, write_text
from gpuprov.store.site import lock_path

_BUSY: Final = frozenset({errno.EWOULDBLOCK, errno.EACCES})
_LIMIT: Final = 64 * 1024
# `read_owner` holds a shared lock for a moment; a run that starts in that moment must not be refused.
_ATTEMPTS: Final = 5
_PAUSE: Final = 0.04


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """Who holds a site."""

    pid: int
    user: str
    host: str
    command: str
    since: float
    """Seconds since the epoch, by the owner's clock."""


@contextlib.contextmanager
def hold_site(site: Path, command: Sequence[str]) -> Iterator[Owner]:
    """Hold a site for the time of a run.

    Args:
        site: its folder `.gpuprov`; made when missing.
        command: the words of the command line, for whoever comes second; no secret is ever among them.

    Raises:
        GpuprovError: GP-RUN-001 naming the owner when another process holds it; GP-DOC-007 when it cannot be made.
    """
    make_folder(site)
    _keep_out_of_git(site)
    descriptor = _open(lock_path(site))
    try:
        _take(descriptor, site)
        owner = owner_now(command)
        _write_owner(descriptor, owner)
        yield owner
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def read_owner(site: Path) -> Owner | None:
    """Who holds a site now; None when nobody does."""
    try:
        descriptor = os.open(lock_path(site), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _BUSY:
            raise
        return _read(descriptor) or Owner(pid=0, user="", host="", command="", since=0.0)
    finally:
        os.close(descriptor)
    return None


def has_ended(owner: Owner) -> bool:
    """Whether an owner was a process of this machine that is no more; one of another machine cannot be asked."""
    return owner.host == socket.gethostname() and not Path(f"/proc/{owner.pid}").exists()


def _keep_out_of_git(site: Path) -> None:
    """State and passphrase would else be one `git add .` away from a repository; a file that is there already stays."""
    place = site / ".gitignore"
    if not place.exists():
        write_text(place, "*\n")


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-007",
                summary=f"cannot write {path}: {(error.strerror or str(error)).lower()}",
                address=str(path),
                hint="the folder of the spec must be writable: runs are recorded there",
            )
        ) from error


def _take(descriptor: int, site: Path) -> None:
    for attempt in range(_ATTEMPTS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _BUSY:
                raise
            if attempt == _ATTEMPTS - 1:
                raise GpuprovError(_held(site, _read(descriptor))) from error
            time.sleep(_PAUSE)
        else:
            return


def owner_now(command: Sequence[str]) -> Owner:
    """This process as an owner.

    Args:
        command: the words of the command line, for whoever comes second; no secret is ever among them.
    """
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as in some containers
        user = str(os.getuid())
    return Owner(pid=os.getpid(), user=user, host=socket.gethostname(), command=" ".join(command), since=time.time())


def _write_owner(descriptor: int, owner: Owner) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, (json.dumps(asdict(owner)) + "\n").encode(), 0)


def _read(descriptor: int) -> Owner | None:
    return read_owner_text(os.pread(descriptor, _LIMIT, 0))


def read_owner_text(text: str | bytes) -> Owner | None:
    """An owner from the text of a held file; None when it names none."""
    try:
        value = json.loads(text)
        return Owner(
            pid=int(value["pid"]),
            user=str(value["user"]),
            host=str(value["host"]),
            command=str(value["command"]),
            since=float(value["since"]),
        )
    except (ValueError, TypeError, KeyError):  # between taking the lock and naming the owner
        return None


def describe_owner(owner: Owner | None) -> tuple[str, str]:
    """Who holds something, in a few words, and since when with which command."""
    if owner is None:
        return "another process", ""
    # The clocks of two machines may differ a little.
    age = max(0, round(time.time() - owner.since))
    who = f"{owner.user} on {owner.host} (process {owner.pid})"
    return who, f"command: {owner.command}\nrunning for: {_duration(age)}"


def _held(site: Path, owner: Owner | None) -> Diagnostic:
    who, detail = describe_owner(owner)
    return Diagnostic(
        code="GP-RUN-001",
        summary=f"another run holds this site: {who}",
        address=str(site),
        detail=detail,
        hint="wait until it ends, or end it; the lock ends with its process, nothing has to be deleted",
    )


def _duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
