"""Comparators: whether an observed value is what was expected; the facet table names them."""

import json
from collections.abc import Callable, Mapping
from typing import Final

from gpuprov.model.fact import Value
from gpuprov.model.version import Constraint, compare, compare_driver, upstream

_AT_BOOT: Final = frozenset({"enabled", "enabled-runtime", "static", "alias", "generated", "indirect", "linked"})

Comparator = Callable[[Value, Value], bool | None]
"""(expected, observed) -> equal, different, or None: the two values prove neither."""


def compare_equal(expected: Value, observed: Value) -> bool:
    """Whether both are the same value of the same type: `True` is not `1`."""
    if type(expected) is not type(observed):
        return False
    if isinstance(expected, list | dict):
        return _canonical(expected) == _canonical(observed)
    return expected == observed


def compare_version(expected: Value, observed: Value) -> bool | None:
    """Whether two package versions are one in dpkg's order: `0:1.0-1` is `1.0-1`."""
    if not isinstance(expected, str) or not isinstance(observed, str):
        return None
    try:
        return compare(expected, observed) == 0
    except ValueError:
        return expected == observed or None


def compare_upstream(expected: Value, observed: Value) -> bool | None:
    """Whether two versions have one upstream part: `580.95.05-1ubuntu1` is `580.95.05`.

    NVML can print two of a driver's three parts (`570.124` for 570.124.06 and for 570.124.04; case A01): a shortened
    version proves neither equality nor difference.
    """
    if not isinstance(expected, str) or not isinstance(observed, str):
        return None
    try:
        first, second = upstream(expected), upstream(observed)
    except ValueError:
        return expected == observed or None
    if _shortened(first, second) or _shortened(second, first):
        return None
    try:
        return compare_driver(first, second) == 0
    except ValueError:
        return compare(first, second) == 0


def _shortened(short: str, long: str) -> bool:
    return long.startswith(f"{short}.") and short.count(".") == 1 and long.count(".") > 1


def compare_contains(expected: Value, observed: Value) -> bool | None:
    """Whether the observed JSON holds all that is expected; what else it holds does not matter.

    Text is read as JSON; an observed text that is no JSON cannot hold it. A list holds another when it has all of its
    members.
    """
    if isinstance(expected, str) and isinstance(observed, str):
        try:
            wanted = json.loads(expected)
        except ValueError:
            return None
        try:
            return _holds(wanted, json.loads(observed))
        except ValueError:
            return False
    return _holds(expected, observed)


def _holds(expected: object, observed: object) -> bool:
    if isinstance(expected, Mapping):
        return isinstance(observed, Mapping) and all(
            key in observed and _holds(value, observed[key]) for key, value in expected.items()
        )
    if isinstance(expected, list):
        # An empty list is a value of its own (`"args": []`): it must not be "held" by just any list.
        if not expected or not isinstance(observed, list):
            return type(expected) is type(observed) and expected == observed
        return all(any(_holds(wanted, seen) for seen in observed) for wanted in expected)
    return type(expected) is type(observed) and expected == observed


def compare_lacks(expected: Value, observed: Value) -> bool | None:
    """Whether an observed JSON object holds none of the values of another at their places; what is absent lacks all."""
    if isinstance(expected, Mapping) and isinstance(observed, Mapping):
        return _lacks(expected, observed)
    if not isinstance(expected, str) or not isinstance(observed, str):
        return None
    try:
        ours, there = json.loads(expected), json.loads(observed) if observed.strip() else {}
    except ValueError:
        return None
    return _lacks(ours, there)


def _lacks(ours: object, there: object) -> bool:
    if isinstance(ours, Mapping) and isinstance(there, Mapping):
        return all(key not in there or _lacks(value, there[key]) for key, value in ours.items())
    return type(ours) is not type(there) or ours != there


def compare_members(expected: Value, observed: Value) -> bool | None:
    """Whether a list has all of `has` and none of `lacks`; its other members are not ours."""
    if not isinstance(expected, Mapping) or not isinstance(observed, list):
        return None
    has, lacks = expected.get("has", []), expected.get("lacks", [])
    if not isinstance(has, list) or not isinstance(lacks, list):
        return None
    return all(value in observed for value in has) and not any(value in observed for value in lacks)


def compare_excludes(expected: Value, observed: Value) -> bool | None:
    """Whether a list has none of the expected values; what is absent has none."""
    if not isinstance(expected, list) or not isinstance(observed, list):
        return None
    return not any(value in observed for value in expected)


def compare_set(expected: Value, observed: Value) -> bool | None:
    """Whether two lists have the same members, in any order and number."""
    if not isinstance(expected, list) or not isinstance(observed, list):
        return None
    return {_canonical(value) for value in expected} == {_canonical(value) for value in observed}


def compare_within(expected: Value, observed: Value) -> bool | None:
    """Whether a list has members, all of them among the expected ones (a model's several NVML names)."""
    if not isinstance(expected, list) or not isinstance(observed, list):
        return None
    return bool(observed) and {_canonical(v) for v in observed} <= {_canonical(v) for v in expected}


def compare_constraint(expected: Value, observed: Value) -> bool | None:
    """Whether a version is within a constraint of the spec: `580.*`; one that NVML shortened can prove nothing."""
    if not isinstance(expected, str) or not isinstance(observed, str):
        return None
    try:
        if Constraint.parse(expected).allows(observed):
            return True
    except ValueError:
        return None
    return None if _shortened(observed, expected.lstrip("= ")) else False


def compare_release(expected: Value, observed: Value) -> bool | None:
    """Whether a release (`13.0`) is among the versions of a list, in full or with further parts."""
    if not isinstance(expected, str) or not isinstance(observed, list):
        return None
    return any(str(version) == expected or str(version).startswith(f"{expected}.") for version in observed)


def compare_unset(expected: Value, observed: Value) -> bool:
    """Whether a flag is not set; for a thing that is absent, compare.py answers yes: what is not there is not held."""
    return compare_equal(expected, observed)


def compare_boot(expected: Value, observed: Value) -> bool:
    """Whether a unit that must be `enabled` comes up with the host; units without an install section count too.

    The states are systemctl(1)'s (systemd 252, `is-enabled` exits with 0 for them), plus `linked`.
    """
    return compare_equal(expected, observed) or (expected == "enabled" and observed in _AT_BOOT)


def _canonical(value: Value) -> str:
    return json.dumps(value, sort_keys=True)


COMPARATORS: Final[Mapping[str, Comparator]] = {
    "equal": compare_equal,
    "version": compare_version,
    "upstream": compare_upstream,
    "contains": compare_contains,
    "lacks": compare_lacks,
    "members": compare_members,
    "excludes": compare_excludes,
    "set": compare_set,
    "within": compare_within,
    "unset": compare_unset,
    "boot": compare_boot,
    "constraint": compare_constraint,
    "release": compare_release,
}
"""Comparators by the name that the facet table and expectations use."""

SYMMETRIC: Final[Mapping[str, str]] = {
    "contains": "equal",
    "lacks": "equal",
    "members": "set",
    "excludes": "set",
    "within": "set",
    "unset": "equal",
    "boot": "equal",
    "constraint": "version",
    "release": "set",
}
"""What compares two hosts, where the facet's own comparator has a wanted side and an observed side."""
