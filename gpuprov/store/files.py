"""Files of the site: read with clear errors, written whole or not at all."""

import contextlib
import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from gpuprov.document.text import MACHINE_LIMIT, decode_text
from gpuprov.model.diagnostic import Diagnostic, GpuprovError

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_HINTS: Final = {
    errno.ENOENT: "give the path of a file that is there",
    errno.EISDIR: "give a file, not a folder",
    errno.EACCES: "check who may read it: `ls -l`",
    errno.EPERM: "check who may read it: `ls -l`",
}


def read_text(path: str | Path, *, limit: int = MACHINE_LIMIT) -> str:
    """Read a text file.

    Args:
        path: the file; pipes and devices are read too, up to the limit.
        limit: bytes.

    Raises:
        GpuprovError: GP-DOC-001 when the file is missing, a folder or not readable; GP-DOC-002 when it is no UTF-8;
            GP-DOC-003 when it is larger than the limit.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise GpuprovError(_unreadable(str(path), error)) from error
    return decode_text(data, str(path), limit)


def read_bytes(path: str | Path, *, code: str, address: str, limit: int = MACHINE_LIMIT) -> bytes:
    """Read a file that is no text, such as a key.

    Args:
        path: the file.
        code: the diagnostic's code when it cannot be read.
        address: what names the file, such as `sources.nvidia.key`.
        limit: bytes.

    Raises:
        GpuprovError: with that code.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise GpuprovError(replace(_unreadable(str(path), error), code=code, address=address)) from error
    if len(data) > limit:
        raise GpuprovError(
            Diagnostic(
                code=code, address=address, summary=f"{path} is larger than {limit} bytes, so it is no such file"
            )
        )
    return data


def read_text_if_there(path: str | Path, *, limit: int = MACHINE_LIMIT) -> str | None:
    """Read a text file that may be missing: None then; every other trouble is an error as in `read_text`."""
    try:
        return read_text(path, limit=limit)
    except GpuprovError as error:
        cause = error.__cause__
        if isinstance(cause, FileNotFoundError):
            return None
        raise


def list_files(folder: str | Path, suffix: str) -> tuple[Path, ...]:
    """The files of a folder whose names end in a suffix, by name; not those of folders in it.

    Raises:
        GpuprovError: GP-DOC-001 when the folder is missing, no folder, or not readable.
    """
    try:
        with os.scandir(folder) as entries:
            found = [entry.path for entry in entries if entry.name.endswith(suffix) and entry.is_file()]
    except OSError as error:
        raise GpuprovError(_unreadable(str(folder), error)) from error
    return tuple(Path(path) for path in sorted(found))


def write_text(path: str | Path, text: str, *, mode: int = 0o644) -> None:
    """Write a file atomically: whoever reads it sees the old text or the new one, also after a power failure.

    Args:
        path: the file; a link is followed, its folder must exist.
        text: the whole text, written as UTF-8.
        mode: permissions of a new file; an existing file keeps its own.

    Raises:
        GpuprovError: GP-DOC-007; the old file is then as it was, and nothing is left beside it.
    """
    target = Path(path)
    try:
        target = target.resolve()
        with contextlib.suppress(FileNotFoundError):
            mode = target.stat().st_mode & 0o777
        _replace(target, text.encode("utf-8", "surrogatepass"), mode)
    except OSError as error:
        raise GpuprovError(_unwritable(str(path), error)) from error


def make_folder(path: str | Path) -> None:
    """Make a folder and its parents; GpuprovError with GP-DOC-007 when that fails."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GpuprovError(_unwritable(str(path), error)) from error


def _replace(target: Path, data: bytes, mode: int) -> None:
    beside = target.with_name(f".{target.name[:200]}.{os.urandom(6).hex()}.tmp")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable; a file system that cannot is no error (the rename itself was atomic)."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(descriptor)


def _unreadable(path: str, error: OSError) -> Diagnostic:
    return Diagnostic(
        code="GP-DOC-001",
        summary=f"cannot read {path}: {_reason(error)}",
        address=path,
        hint=_HINTS.get(error.errno or 0, ""),
    )


def _unwritable(path: str, error: OSError) -> Diagnostic:
    full = error.errno in _FULL
    return Diagnostic(
        code="GP-DOC-007",
        summary=f"cannot write {path}: {_reason(error)}",
        address=path,
        detail="nothing was written; what was there before is unchanged",
        hint="make room on the file system (`df -h`) and run again"
        if full
        else "check the folder and who may write it",
    )


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
