"""The mark of an update that has not ended well: it stays until one does, and names the creates that failed."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from gpuprov.cloud.events import NewResource
from gpuprov.store.files import read_text, write_text


def set_mark(path: Path, failed: Sequence[NewResource]) -> None:
    """Write the mark, readable for this user only; what it named before and nobody looked for yet stays in it.

    Raises:
        GpuprovError: GP-DOC-007 when it cannot be written.
    """
    named = {one.urn: one for one in (*read_mark(path), *failed)}
    write_text(path, json.dumps([asdict(one) for one in named.values()], sort_keys=True) + "\n", mode=0o600)


def read_mark(path: Path) -> tuple[NewResource, ...]:
    """The creates that failed, by the mark; none when there is no mark, or it was never finished."""
    if not path.exists():
        return ()
    try:
        return tuple(NewResource(**row) for row in json.loads(read_text(path)))
    except (ValueError, TypeError):
        return ()


def clear_mark(path: Path) -> None:
    """Take the mark away: an update has ended well."""
    path.unlink(missing_ok=True)
