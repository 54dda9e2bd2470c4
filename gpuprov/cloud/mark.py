"""The mark of an update that has not ended well: it stays until one does, and names the creates that failed.

It lies with the state, so that whoever goes on, on whatever machine, sees it.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict

from gpuprov.cloud.events import NewResource
from gpuprov.cloud.types import StackPlace


def set_mark(place: StackPlace, failed: Sequence[NewResource]) -> None:
    """Write the mark, readable for this user only; what it named before and nobody looked for yet stays in it.

    Raises:
        GpuprovError: GP-DOC-007 when it cannot be written.
    """
    named = {one.urn: one for one in (*read_mark(place), *failed)}
    place.files.write(_name(place), json.dumps([asdict(one) for one in named.values()], sort_keys=True) + "\n")


def read_mark(place: StackPlace) -> tuple[NewResource, ...]:
    """The creates that failed, by the mark; none when there is no mark, or it was never finished."""
    data = place.files.read(_name(place))
    if data is None:
        return ()
    try:
        return tuple(NewResource(**row) for row in json.loads(data))
    except (ValueError, TypeError):
        return ()


def is_marked(place: StackPlace) -> bool:
    """Whether the last update has not ended well."""
    return place.files.changed(_name(place)) is not None


def clear_mark(place: StackPlace) -> None:
    """Take the mark away: an update has ended well."""
    place.files.remove(_name(place))


def _name(place: StackPlace) -> str:
    return f"{place.name}.unfinished"
