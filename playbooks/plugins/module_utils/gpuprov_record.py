"""The record on a host: JSON files that a power cut cannot leave empty, read with an error that says what to do.

Owns: how files below /var/lib/gpuprov are written and read by the play's modules.
Takes: a path and a value.
Gives: the value; Broken with the path and what was found.
Must not: repair or delete a file that it cannot read.
"""

from __future__ import annotations

import json
import os
from pathlib import Path


class Broken(ValueError):  # noqa: N818 - a reason, shown to people
    """Raised when a file of the record is not what gpuprov writes.

    Args:
        path: the file.
        text: what was found and what was expected.
    """

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(f"{path}: {text}")
        self.path, self.text = path, text


def read_json(path: Path, kind: type) -> object:
    """Read a JSON file of the record; an absent one is an empty value of its kind.

    Raises:
        Broken: it is empty, no JSON, or JSON of another kind.
    """
    if not path.exists():
        return kind()
    data = path.read_bytes()
    if not data.strip():
        raise Broken(path, "the record is empty, as a power cut may leave a file")
    try:
        value = json.loads(data)
    except ValueError as error:
        raise Broken(path, f"the record is not valid JSON: {error}") from error
    if not isinstance(value, kind):
        raise Broken(path, f"the record holds a JSON {type(value).__name__}, expected a {kind.__name__}")
    return value


def write_json(path: Path, value: object) -> None:
    """Write a JSON file of the record."""
    write_text(path, json.dumps(value, sort_keys=True, indent=1) + "\n")


def write_text(path: Path, text: str, mode: int = 0o644) -> None:
    """Replace a file so that after a power cut either the old or the new text is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    with new.open("w", encoding="utf-8") as stream:
        new.chmod(mode)
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    new.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames and removals in a folder last."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
