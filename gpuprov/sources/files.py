"""Writing cache files so that a reader sees the old or the new content, never half of it."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from gpuprov.model.diagnostic import Diagnostic, GpuprovError


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file of the cache atomically; its folder is made.

    Raises:
        GpuprovError: GP-DOC-007 when the cache cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise GpuprovError(unwritable(path, error)) from error


def unwritable(path: Path, error: OSError) -> Diagnostic:
    """The diagnostic for a cache that cannot be written."""
    return Diagnostic(
        code="GP-DOC-007",
        summary=f"the cache file {path.name} cannot be written: {error.strerror or error}",
        detail=str(path.parent),
        hint="Make room, or choose another cache folder.",
    )


def prune(folder: Path, keep: int) -> None:
    """Delete all but the most recently used files of a cache folder; another run may be doing the same."""
    used: list[tuple[float, Path]] = []
    for path in folder.iterdir() if folder.is_dir() else ():
        with suppress(FileNotFoundError):
            if path.is_file():
                used.append((path.stat().st_mtime, path))
    for _, old in sorted(used, reverse=True)[keep:]:
        old.unlink(missing_ok=True)
