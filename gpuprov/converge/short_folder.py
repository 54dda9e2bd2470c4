"""A private folder for what lives as long as a play: passwords, ssh's sockets, Ansible's own files.

It lies in memory where the machine has such a place, and what a killed run left there is deleted by the next.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PREFIX: Final = "gpuprov-"
_YOUNG: Final = 60.0
"""Seconds in which a folder may not have its lock yet."""


@contextlib.contextmanager
def short_folder(base: Path | None = None) -> Iterator[Path]:
    """Give a private folder with a short path, for a socket's has room for 107 bytes; ssh's masters end with it.

    Args:
        base: where to make it; by default the user's runtime folder, else shared memory, else the temporary folder.
    """
    base = base or _base()
    _delete_stale(base)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
    # The lock ends with this process however that ends; its id could be another's by then, or in another namespace.
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        _delete(folder)
        os.close(handle)


def _base() -> Path:
    for name in (os.environ.get("XDG_RUNTIME_DIR", ""), "/dev/shm"):  # noqa: S108 - the folder made there is private
        if name and Path(name).is_dir() and os.access(name, os.W_OK | os.X_OK):
            return Path(name)
    return Path(tempfile.gettempdir())


def _delete_stale(base: Path) -> None:
    """Delete folders of this user whose process is gone."""
    for folder in base.glob(f"{_PREFIX}*"):
        try:
            found = folder.lstat()
            if found.st_uid != os.getuid() or time.time() - found.st_mtime < _YOUNG:
                continue
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # gone by now, or no folder: nothing of ours
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _delete(folder)
        except BlockingIOError:
            pass  # its run is alive
        finally:
            os.close(handle)


def _delete(folder: Path) -> None:
    for socket in (folder / "cp").glob("*"):
        # A master that has ended by itself is what is wanted, and one that hangs ends without its socket.
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                ["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "gpuprov"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=10,
                check=False,
            )
    shutil.rmtree(folder, ignore_errors=True)
