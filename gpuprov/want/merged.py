"""Keys of ours in files of others: how a file reads once they are taken out again."""

import json
from collections.abc import Mapping
from typing import Any

from gpuprov.want.files import dump_json
from gpuprov.want.types import MergedKeys


def is_object(text: str) -> bool:
    """Whether a text is a JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def without_ours(present: str, keys: MergedKeys) -> str:
    """The file as it becomes when our keys go: what they replaced stands there again, all else stays.

    A key that holds another value than ours is not ours any more.

    Raises:
        ValueError: when the present text is no JSON object.
    """
    there = json.loads(present) if present.strip() else {}
    if not isinstance(there, dict):
        raise ValueError(f"expected a JSON object, found {type(there).__name__}")  # noqa: TRY004 bad text, no bad call
    return dump_json(_without(there, json.loads(keys.ours), json.loads(keys.before)))


def _without(there: Mapping[str, Any], ours: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(there)
    for key in ours.keys() & there.keys():
        now, value, old = there[key], ours[key], before.get(key)
        if isinstance(now, dict) and isinstance(value, dict):
            result[key] = _without(now, value, old if isinstance(old, dict) else {})
            if result[key]:
                continue
        elif now != value:
            continue
        if key in before:
            result[key] = {} if isinstance(old, dict) and isinstance(now, dict) else old
        else:
            del result[key]
    return result
