"""What gpuprov put into files that are not its own, and how it is taken out again.

Owns: the entries of the record of merged keys, and the arithmetic of taking them back.
Takes: the JSON object that is there, and ours.
Gives: the object without our keys, with what stood in their place before gpuprov came.
Must not: open a file, or take away a key that holds another value than ours.
"""

from __future__ import annotations

import json
from typing import Any

from ansible.module_utils import gpuprov_merge


def entry(earlier: dict[str, Any] | None, theirs: dict[str, Any] | None, ours: dict[str, Any]) -> dict[str, Any] | None:
    """The record's entry of a file once ours is merged into what is there; None where that adds nothing.

    Args:
        earlier: the entry of earlier runs; None for none.
        theirs: what is there; None where there is no file.
        ours: what is merged.
    """
    more = added(theirs or {}, ours)
    if not more:
        return None
    kept = earlier or {"ours": "{}", "before": "{}", "made": theirs is None}
    mine, before = json.loads(kept["ours"]), json.loads(kept["before"])
    # What stands in the place of a key that was ours already came after gpuprov, and not before.
    before = gpuprov_merge.merge(replaced(theirs or {}, added(mine, more)), before)
    both = gpuprov_merge.merge(mine, more)
    return {
        "ours": json.dumps(both, sort_keys=True),
        "before": json.dumps(before, sort_keys=True),
        "made": bool(kept["made"]),
    }


def without(current: dict[str, Any], taken: dict[str, Any]) -> dict[str, Any]:
    """The object without what an entry of the record says is ours."""
    return taken_back(current, json.loads(taken["ours"]), json.loads(taken["before"]))


def added(theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """The part of ours that the object there does not hold."""
    found = {}
    for key, value in ours.items():
        there = theirs.get(key)
        if isinstance(there, dict) and isinstance(value, dict):
            part = added(there, value)
            if part:
                found[key] = part
        elif key not in theirs or there != value:
            found[key] = value
    return found


def replaced(theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """What of the object there goes when ours is merged into it."""
    found = {}
    for key in ours.keys() & theirs.keys():
        there, value = theirs[key], ours[key]
        if isinstance(there, dict) and isinstance(value, dict):
            part = replaced(there, value)
            if part or not there:
                found[key] = part
        elif there != value:
            found[key] = there
    return found


def taken_back(current: dict[str, Any], ours: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """The object without the keys that still hold our values; what they replaced stands there again."""
    result = dict(current)
    for key in ours.keys() & current.keys():
        there, value, old = current[key], ours[key], before.get(key)
        if isinstance(there, dict) and isinstance(value, dict):
            result[key] = taken_back(there, value, old if isinstance(old, dict) else {})
            if result[key]:
                continue
        elif there != value:
            continue
        if key in before:
            result[key] = {} if isinstance(old, dict) and isinstance(there, dict) else old
        else:
            del result[key]
    return result
