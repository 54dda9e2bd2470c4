"""Diff: which inputs really changed, and which of them make a new resource."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from gpuprov.lab.aws.plugin import table, wire


class Kind(Enum):
    """What happens to one property."""

    ADD = "add"
    DELETE = "delete"
    UPDATE = "update"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One property that changed."""

    path: str
    """Pulumi's property path."""
    property: str
    """The top level property that it belongs to."""
    kind: Kind
    replaces: bool


def changes(token: str, olds: Mapping[str, Any], news: Mapping[str, Any]) -> tuple[Change, ...]:
    """Compare two sets of inputs as the real provider does.

    Args:
        token: the resource's type.
        olds: the inputs that the state holds, plain.
        news: checked inputs of the program, plain.
    """
    return tuple(_members(token, olds, news, (), news))


def needs_deletion_first(token: str, checked: Mapping[str, Any]) -> bool:
    """Whether a replacement must delete first: the program gave a name of its own, which two cannot have.

    Source: nameRequiresDeleteBeforeReplace of pulumi-terraform-bridge v3.120.0 (pkg/tfbridge/schema.go); none of the
    types here has DeleteBeforeReplace in pulumi-aws's resource_overrides.go (read 2026-11-30).
    """
    filled = set(checked.get(wire.DEFAULTS, []))
    return any(
        row.autoname is not None and name in checked and name not in filled
        for name, row in table.properties(token).items()
    )


def same(row: table.Property | None, old: Any, new: Any) -> bool:
    """Whether two plain values mean the same to the provider."""
    if row is not None and row.json and isinstance(old, str) and isinstance(new, str):
        return _same_json(old, new)
    if row is not None and row.set and isinstance(old, list) and isinstance(new, list):
        return sorted(map(_sortable, old)) == sorted(map(_sortable, new))
    return bool(old == new)


def _members(
    token: str, olds: Mapping[str, Any], news: Mapping[str, Any], at: tuple[str, ...], inputs: Mapping[str, Any]
) -> Iterator[Change]:
    """Compare the members of two objects."""
    rows = table.properties(token)
    for name in sorted(olds.keys() | news.keys()):
        here = (*at, name)
        row = rows.get(".".join(here))
        old, new = olds.get(name), news.get(name)
        if same(row, old, new) or (new is None and row is not None and row.kept):
            continue
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _members(token, old, new, here, inputs)
            continue
        kind = Kind.ADD if old is None else Kind.DELETE if new is None else Kind.UPDATE
        replaces = _replaces(row or rows.get(here[0]), kind, inputs) or _adds_replacing(rows, here, new, kind)
        yield Change(path=wire.path(here), property=here[0], kind=kind, replaces=replaces)


def _replaces(row: table.Property | None, kind: Kind, inputs: Mapping[str, Any]) -> bool:
    """Whether this change of a property makes a new resource."""
    if row is None or isinstance(row.replaces, bool):
        return row is not None and bool(row.replaces)
    if row.replaces == table.WITH_USER_DATA_FLAG:
        return bool(inputs.get("userDataReplaceOnChange"))
    return kind is not Kind.UPDATE


def _adds_replacing(rows: Mapping[str, table.Property], at: tuple[str, ...], new: Any, kind: Kind) -> bool:
    """Whether a whole nested object appears that holds something which makes a new resource."""
    if kind is not Kind.ADD or not isinstance(new, Mapping):
        return False
    return any((row := rows.get(".".join((*at, name)))) is not None and row.replaces is True for name in new)


def _same_json(old: str, new: str) -> bool:
    """Whether two texts hold the same JSON."""
    try:
        return bool(json.loads(old) == json.loads(new))
    except ValueError:
        return old == new


def _sortable(value: Any) -> str:
    """Give any plain value an order."""
    return json.dumps(value, sort_keys=True)
