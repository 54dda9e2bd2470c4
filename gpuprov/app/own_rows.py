"""Reading the folder of own catalog rows that a spec names."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.store.files import read_text

SUFFIXES: Final = (".yaml", ".yml", ".json")
"""Endings of the files that are read from a folder of own rows."""


def folder_reader(spec: Path) -> Callable[[str], Mapping[str, str]]:
    """A reader of folders that are named relative to a spec."""

    def read(folder: str) -> Mapping[str, str]:
        return read_rows(spec.parent / Path(folder).expanduser())

    return read


def read_rows(folder: Path) -> Mapping[str, str]:
    """The text of every file of rows in a folder, by its path.

    Raises:
        GpuprovError: GP-DOC-001 when there is no such folder, or a file cannot be read.
    """
    if not folder.is_dir():
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-001",
                summary=f"there is no folder {folder}",
                address="catalog",
                hint="name the folder that holds your own catalog rows, relative to the spec",
            )
        )
    files = sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())
    return {str(path): read_text(path) for path in files}
