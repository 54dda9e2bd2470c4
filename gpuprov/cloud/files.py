"""Where a stack's files are: a folder beside the spec, or a bucket of S3.

Names are the same in both: `.pulumi/...` is the engine's own, everything else is gpuprov's.
"""

from pathlib import Path
from typing import Final, Protocol

from gpuprov.spec.cloud_state import LOCAL
from gpuprov.store.files import make_folder, sync_folder, write_text

ENGINE: Final = ".pulumi/"
"""Begins the names of the engine's own files."""


class StateFiles(Protocol):
    """The files of a site's stacks; each name is a path with slashes."""

    @property
    def backend(self) -> str:
        """As the spec writes it."""

    @property
    def url(self) -> str:
        """As the engine takes its backend."""

    def read(self, name: str) -> bytes | None:
        """The whole file; None when there is none."""

    def write(self, name: str, text: str) -> None:
        """Write the file, whole or not at all."""

    def remove(self, name: str) -> None:
        """Delete the file; that there is none is no error."""

    def names(self, folder: str) -> tuple[str, ...]:
        """Full names of the files in a folder, not of those in folders below, sorted."""

    def changed(self, name: str) -> float | None:
        """When the file was written, in seconds since the epoch; None when there is none."""

    def shown(self, name: str) -> str:
        """The file as people find it: a path, or a URL."""


class LocalFiles:
    """Files in a folder.

    Args:
        folder: `.gpuprov/cloud`; the engine's own files are in `state` there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def backend(self) -> str:
        """As the spec writes it."""
        return LOCAL

    @property
    def url(self) -> str:
        """As the engine takes its backend."""
        return (self._folder / "state").absolute().as_uri()

    def read(self, name: str) -> bytes | None:
        """The whole file; None when there is none.

        Raises:
            OSError: it cannot be read.
        """
        try:
            return self.path(name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, text: str) -> None:
        """Write the file, readable for this user only."""
        path = self.path(name)
        make_folder(path.parent)
        write_text(path, text, mode=0o600)

    def remove(self, name: str) -> None:
        """Delete the file; its folder knows of it before this returns."""
        path = self.path(name)
        if path.exists():
            path.unlink(missing_ok=True)
            sync_folder(path.parent)

    def names(self, folder: str) -> tuple[str, ...]:
        """Full names of the files in a folder."""
        try:
            return tuple(sorted(f"{folder}/{path.name}" for path in self.path(folder).iterdir() if path.is_file()))
        except FileNotFoundError:
            return ()

    def changed(self, name: str) -> float | None:
        """When the file was written."""
        try:
            return self.path(name).stat().st_mtime
        except FileNotFoundError:
            return None

    def shown(self, name: str) -> str:
        """Its path."""
        return str(self.path(name))

    def path(self, name: str) -> Path:
        """The file of a name."""
        return self._folder / "state" / name if name.startswith(ENGINE) else self._folder / name
