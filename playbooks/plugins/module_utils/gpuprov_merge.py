"""The new text of a managed file: ours as a whole, or our keys merged into the JSON object that is there.

Owns: the merge of JSON objects and the comparison that ignores volatile keys.
Takes: the text that is there, None when the file is absent, and the wanted text.
Gives: the new text; equal to the old one when nothing has to change.
Must not: open a file.
"""

from __future__ import annotations

import json


class NotMergeable(ValueError):  # noqa: N818 - a reason, shown to people
    """Raised when the text that is there is no JSON object."""


def merged(current: str | None, wanted: str) -> str:
    """Merge a wanted JSON object into the text that is there; foreign keys, their order and the text itself stay.

    Raises:
        NotMergeable: the text that is there is no JSON object.
    """
    ours = json.loads(wanted)
    if current is None or not current.strip():
        return dump(ours)
    theirs = json_object(current)
    both = merge(theirs, ours)
    # Text that already says it keeps its own layout.
    return current if both == theirs else dump(both)


def json_object(text: str) -> dict[str, object]:
    """Read the JSON object of a text; an empty text is an empty object, as for dockerd.

    Raises:
        NotMergeable: it holds anything else.
    """
    try:
        found = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise NotMergeable(f"it is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise NotMergeable(f"it holds a JSON {type(found).__name__}, not an object")
    return found


def merge(theirs: dict[str, object], ours: dict[str, object]) -> dict[str, object]:
    """Lay our keys over theirs, object by object; lists and scalars of ours replace theirs."""
    both = dict(theirs)
    for key, value in ours.items():
        before = both.get(key)
        both[key] = merge(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return both


def same_but(current: str | None, wanted: str, volatile: list[str]) -> bool:
    """Whether two JSON objects differ in volatile keys only."""
    if current is None or not volatile:
        return False
    try:
        left, right = json.loads(current), json.loads(wanted)
    except ValueError:
        return False
    if not isinstance(left, dict) or not isinstance(right, dict):
        return False
    return {k: v for k, v in left.items() if k not in volatile} == {k: v for k, v in right.items() if k not in volatile}


def dump(value: object) -> str:
    """Write JSON as people edit it."""
    return json.dumps(value, indent=4, ensure_ascii=False) + "\n"
