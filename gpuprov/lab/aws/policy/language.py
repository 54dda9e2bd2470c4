"""The policy language: does a policy allow an action on a resource under these circumstances?

Follows AWS's IAM User Guide, "Policy evaluation logic", "IAM JSON policy elements: Condition operators" and
"...: Variables and tags" (read 2026-11-30): an explicit deny counts before every allow; a key that the request does not
have fails its condition, but for the operators ...IfExists, Null and the negated ones.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

Policy = Mapping[str, Any]
_ALLOW: Final = "Allow"
_DENY: Final = "Deny"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What is asked of IAM: a call asks for one or more of these, and needs all."""

    action: str
    """As IAM names it, with its service: `ec2:RunInstances`."""
    resource: str
    """ARN, or `*` for an action that knows no resources."""
    context: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Condition key -> values; a key that is not there is one that the request does not have."""


def allowed(policies: Sequence[Policy], asked: Asked) -> bool:
    """Whether identity-based policies together allow it."""
    effects = {
        statement["Effect"] for policy in policies for statement in _statements(policy) if _fits(statement, asked)
    }
    return _ALLOW in effects and _DENY not in effects


def _statements(policy: Policy) -> Sequence[Mapping[str, Any]]:
    found = policy["Statement"]
    return [found] if isinstance(found, Mapping) else found


def _fits(statement: Mapping[str, Any], asked: Asked) -> bool:
    return (
        _named(statement, "Action", asked.action.lower(), lower=True)
        and _named(statement, "Resource", asked.resource)
        and all(
            _condition(operator, key, _listed(values), asked.context)
            for operator, keys in statement.get("Condition", {}).items()
            for key, values in keys.items()
        )
    )


def _named(statement: Mapping[str, Any], element: str, value: str, *, lower: bool = False) -> bool:
    """Whether an element, or its negation, covers a value."""
    if f"Not{element}" in statement:
        patterns = _listed(statement[f"Not{element}"])
        return not any(like(pattern.lower() if lower else pattern, value) for pattern in patterns)
    return any(like(pattern.lower() if lower else pattern, value) for pattern in _listed(statement[element]))


def like(pattern: str, value: str) -> bool:
    """Whether a pattern with `*`, `?` and the variables ${*}, ${?} and ${$} covers a value."""
    return _compiled(pattern).fullmatch(value) is not None


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    forms = {"*": ".*", "?": "."}
    parts = re.split(r"(\$\{[*?$]\}|\*|\?)", pattern)
    return re.compile("".join(forms.get(part) or re.escape(_literal(part)) for part in parts), re.DOTALL)


def _condition(operator: str, key: str, wanted: Sequence[str], context: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether one condition holds.

    Raises:
        ValueError: an operator that is not built: it must not be passed over.
    """
    found = next((values for name, values in context.items() if name.lower() == key.lower()), None)
    if operator == "Null":
        return (found is None) is (wanted[0].lower() == "true")
    quantifier, _, name = operator.rpartition(":")
    if_exists = name.endswith("IfExists")
    negated, test = _operator(name.removesuffix("IfExists"))
    if found is None:
        return if_exists or negated or quantifier == "ForAllValues"
    if quantifier == "ForAllValues":
        return all(any(test(one, value) for one in wanted) is not negated for value in found)
    # A key with one value needs no quantifier; with several and none, AWS leaves the result open: any counts here.
    return any(any(test(one, value) for one in wanted) is not negated for value in found)


def _operator(name: str) -> tuple[bool, Callable[[str, str], bool]]:
    """Whether an operator negates, and its test of a wanted and a found value."""
    negated = "Not" in name
    plain = name.replace("Not", "")
    tests: dict[str, Callable[[str, str], bool]] = {
        "StringEquals": lambda wanted, found: _literal(wanted) == found,
        "StringEqualsIgnoreCase": lambda wanted, found: _literal(wanted).lower() == found.lower(),
        "StringLike": like,
        "ArnEquals": like,
        "ArnLike": like,
        "Bool": lambda wanted, found: wanted.lower() == found.lower(),
    }
    if plain not in tests:
        raise ValueError(f"the lab's IAM does not know the condition operator {name}")
    return negated, tests[plain]


def _literal(text: str) -> str:
    return re.sub(r"\$\{([*?$])\}", r"\1", text)


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
