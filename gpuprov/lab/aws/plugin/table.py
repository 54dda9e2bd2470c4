"""The plugin's tables, read once: `properties.json` and `rules.json`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Property:
    """What the real provider does with one property of a resource type."""

    type: str
    property: str
    """Wire name; dotted for a member of a nested object."""
    replaces: bool | str
    """True, False, or under which condition a change makes a new resource (one of `CONDITIONS`)."""
    source: str
    kept: bool = False
    """Whether dropping the property from the program changes nothing."""
    default: Any = None
    set: bool = False
    """Whether the order of the list means nothing."""
    json: bool = False
    """Whether values are compared as JSON documents."""
    local: bool = False
    """Whether it is an argument of the provider that AWS does not keep."""
    autoname: int | None = None
    """The greatest length of a name that is made from the logical one; None for no such name."""
    autoname_source: str | None = None


WHEN_SOURCE_KIND_CHANGES = "when added or dropped"
WITH_USER_DATA_FLAG = "with userDataReplaceOnChange"
CONDITIONS = frozenset({WHEN_SOURCE_KIND_CHANGES, WITH_USER_DATA_FLAG})


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """Something that the provider or AWS refuses, and that neither the SDK's classes nor moto do."""

    type: str
    """A type token, or `*` for every type that has the property."""
    property: str
    kind: str
    by: str
    """`provider`: refused at Check. An operation such as `RunInstances`: refused by AWS, when the call is made."""
    source: str
    code: str = ""
    """AWS's error code, where AWS refuses."""
    must: str = ""
    """What the value must be, for the message."""
    value: Mapping[str, Any] = field(default_factory=dict)
    """The rule's own figures: pattern, min, max, names."""


@cache
def properties(token: str) -> Mapping[str, Property]:
    """Return the rows of a type by property; empty for a type that the plugin does not implement."""
    return _properties().get(token, {})


def implemented() -> frozenset[str]:
    """Return the tokens of all types that the plugin implements."""
    return frozenset(_properties())


@cache
def rules() -> tuple[Rule, ...]:
    """Return all rules about inputs."""
    return tuple(Rule(**row) for row in document("rules.json")["rules"])


@cache
def document(name: str) -> Any:
    """Return one of the tables as it stands."""
    return json.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


@cache
def _properties() -> Mapping[str, Mapping[str, Property]]:
    """Read `properties.json`."""
    found: dict[str, dict[str, Property]] = {}
    for row in document("properties.json")["rows"]:
        found.setdefault(row["type"], {})[row["property"]] = Property(**row)
    return found
