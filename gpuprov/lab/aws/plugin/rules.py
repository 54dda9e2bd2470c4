"""What the provider or AWS refuses beyond types: one small function for each kind of rule in `rules.json`."""

import ipaddress
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gpuprov.lab.aws.plugin import table, wire
from gpuprov.lab.aws.plugin.errors import AwsError
from gpuprov.lab.aws.plugin.schema import Refused

Complaint = Iterator[tuple[str, str]]
"""Pairs of a member's path below the rule's property, such as `.Name` (empty for itself), and what is wrong with it."""
_Judge = Callable[[Any, Mapping[str, Any], table.Rule], Complaint]
_TAG_CHARACTERS = re.compile(r"[\w .:/=+\-@]*")
_METADATA_KEY = re.compile(r"[a-zA-Z0-9+\-=.,_:@]+")
_NAME = re.compile(r"[\w+=,.@-]+", re.ASCII)


def refused_by_provider(token: str, inputs: Mapping[str, Any]) -> tuple[Refused, ...]:
    """Return what the provider refuses of plain inputs, before any call."""
    return tuple(
        Refused(property=at, reason=why) for rule, at, why in complaints(token, inputs) if rule.by == "provider"
    )


def raise_refused_by_aws(token: str, inputs: Mapping[str, Any]) -> None:
    """Give the first error that AWS gives for known inputs and moto does not.

    Raises:
        AwsError: AWS refuses the call.
    """
    for rule, at, why in complaints(token, inputs):
        if rule.by != "provider":
            raise AwsError(operation=rule.by, code=rule.code, message=f"{at}: {why}" if at else why)


def complaints(token: str, inputs: Mapping[str, Any]) -> Iterator[tuple[table.Rule, str, str]]:
    """Apply every rule of a type; a value that is unknown or absent breaks none."""
    for rule in table.rules():
        if rule.type != token:
            continue
        for at, value in _find(inputs, rule.property.split(".") if rule.property else [], ""):
            if wire.has_unknown(value):
                continue
            for below, why in KINDS[rule.kind](value, inputs, rule):
                yield rule, at + below, why


def _find(value: Any, parts: list[str], at: str) -> Iterator[tuple[str, Any]]:
    """Return every value that a rule's path names, with its own path; `name[*]` is each member of a list."""
    if not parts:
        yield at, value
        return
    name, _, each = parts[0].partition("[")
    member = value.get(name) if isinstance(value, Mapping) else None
    if member is None:
        return
    here = f"{at}.{name}" if at else name
    if not each:
        yield from _find(member, parts[1:], here)
    elif isinstance(member, list):
        for index, entry in enumerate(member):
            yield from _find(entry, parts[1:], f"{here}[{index}]")


def _one(inputs: Mapping[str, Any], name: str) -> Any:
    """Return one value by its dotted name; None when it is absent."""
    return next((value for _, value in _find(inputs, name.split("."), "")), None)


def _applies(inputs: Mapping[str, Any], rule: table.Rule) -> bool:
    """Whether the rule's condition on other properties holds."""
    return all(_one(inputs, name) == wanted for name, wanted in rule.value.get("when", {}).items())


def _pattern(value: Any, _: Mapping[str, Any], rule: table.Rule) -> Complaint:
    if not re.fullmatch(rule.value["pattern"], value):
        yield "", f"must be {rule.must}, but is {value!r}"


def _not_pattern(value: Any, _: Mapping[str, Any], rule: table.Rule) -> Complaint:
    if re.fullmatch(rule.value["pattern"], value):
        yield "", f"must be {rule.must}, but is {value!r}"


def _length(value: Any, _: Mapping[str, Any], rule: table.Rule) -> Complaint:
    least, most = rule.value["min"], rule.value["max"]
    if not least <= len(value) <= most:
        yield "", f"must have {least} to {most} characters, but has {len(value)}"


def _range(value: Any, inputs: Mapping[str, Any], rule: table.Rule) -> Complaint:
    least, most = rule.value["min"], rule.value["max"]
    if _applies(inputs, rule) and not least <= value <= most:
        yield "", f"must be {least} to {most}, but is {value}"


def _ratio(value: Any, inputs: Mapping[str, Any], rule: table.Rule) -> Complaint:
    base = _one(inputs, rule.value["per"])
    if base is None:
        base = rule.value.get("otherwise")
    if base is None or wire.has_unknown(base) or not _applies(inputs, rule):
        return
    most = max(base * rule.value["factor"], rule.value.get("least", 0))
    if value > most:
        yield "", f"must be {rule.must}: {value} is more than {most:g} for {rule.value['per']} {base}"


def _one_of(value: Any, _: Mapping[str, Any], rule: table.Rule) -> Complaint:
    if value not in rule.value["values"]:
        yield "", f"must be one of {', '.join(rule.value['values'])}, but is {value!r}"


def _count(value: Any, rule: table.Rule) -> list[str]:
    """Return which of the rule's properties are given."""
    return [name for name in rule.value["names"] if _one(value, name) is not None]


def _exactly_one(value: Any, _: Mapping[str, Any], rule: table.Rule) -> Complaint:
    given = _count(value, rule)
    if len(given) != 1:
        yield (
            "",
            f"exactly one of {', '.join(rule.value['names'])} is needed, but {' and '.join(given) or 'none'} is given",
        )


def _at_most_one(value: Any, _: Mapping[str, Any], rule: table.Rule) -> Complaint:
    given = _count(value, rule)
    if len(given) > 1:
        yield "", f"only one of {', '.join(rule.value['names'])} can be given, but there are {' and '.join(given)}"


def _at_least_one(value: Any, inputs: Mapping[str, Any], rule: table.Rule) -> Complaint:
    if _applies(inputs, rule) and not _count(value, rule):
        yield "", f"one of {', '.join(rule.value['names'])} is needed"


def _conflicts(value: Any, _: Mapping[str, Any], rule: table.Rule) -> Complaint:
    given = _count(value, rule)
    if len(given) > 1:
        yield "", f"{' and '.join(given)} cannot be given together"


def _only_with(_: Any, inputs: Mapping[str, Any], rule: table.Rule) -> Complaint:
    other = rule.value["names"][0]
    found = _one(inputs, other)
    if found not in {*rule.value["values"], wire.UNKNOWN}:
        yield "", f"can be set only when {other} is {' or '.join(rule.value['values'])}, but it is {found!r}"


def _cidr(value: Any, _: Mapping[str, Any], rule: table.Rule) -> Complaint:
    try:
        network = ipaddress.IPv4Network(value, strict=True)
    except ValueError:
        yield "", f"must be {rule.must}, but is {value!r}"
        return
    if "/" not in value or not rule.value["min"] <= network.prefixlen <= rule.value["max"]:
        yield "", f"must be {rule.must}, but is {value!r}"


def _name(value: Any, _: Mapping[str, Any], rule: table.Rule) -> Complaint:
    least, most = rule.value["min"], rule.value["max"]
    if not least <= len(value) <= most or not _NAME.fullmatch(value):
        yield "", f"must have {least} to {most} letters, digits or _+=,.@-, but is {value!r}"


def _policy(value: Any, _: Mapping[str, Any], rule: table.Rule) -> Complaint:
    try:
        document = json.loads(value)
    except ValueError as error:
        yield "", f"must be a policy document in JSON: {error}"
        return
    statements = document.get("Statement") if isinstance(document, dict) else None
    if isinstance(statements, dict):
        statements = [statements]
    if not statements or not isinstance(statements, list):
        yield "", "must be a policy document with a Statement"
        return
    for number, statement in enumerate(statements):
        missing = [
            name
            for name in ("Effect", "Action", *rule.value["needs"])
            if not isinstance(statement, dict) or not ({name, f"Not{name}"} & statement.keys())
        ]
        if missing:
            yield "", f"statement {number} of the policy has no {' and no '.join(missing)}"


def _ports(value: Any, _: Mapping[str, Any], rule: table.Rule) -> Complaint:
    first, last = value.get("fromPort"), value.get("toPort")
    if value.get("ipProtocol") in {"tcp", "udp", "6", "17"} and (first is None or last is None or first > last):
        yield "", f"must have {rule.must}, but has {first} and {last}"


def _tags(value: Any, _: Mapping[str, Any], rule: table.Rule) -> Complaint:
    limits = rule.value
    if len(value) > limits["count"]:
        yield "", f"a resource can have {limits['count']} tags, but there are {len(value)}"
    for key, text in value.items():
        below = _below(key)
        if key.lower().startswith("aws:"):
            yield below, "the prefix aws: is reserved for AWS"
        if not 1 <= len(key) <= limits["key"] or not _TAG_CHARACTERS.fullmatch(key):
            yield below, f"a tag's key must have 1 to {limits['key']} letters, digits, spaces or . _ : / = + - @"
        if len(text) > limits["value"] or not _TAG_CHARACTERS.fullmatch(text):
            yield below, f"a tag's value must have at most {limits['value']} letters, digits, spaces or . _ : / = + - @"


def _below(key: str) -> str:
    """Return the path of a member below its object, such as `.Name` or `["gpuprov:id"]`."""
    return wire.path(("_", key)).removeprefix("_")


def _metadata_tags(value: Any, inputs: Mapping[str, Any], rule: table.Rule) -> Complaint:
    if _one(inputs, "metadataOptions.instanceMetadataTags") != "enabled":
        return
    for key in value:
        if not _METADATA_KEY.fullmatch(key):
            yield _below(key), f"a tag's key must have {rule.must}"


KINDS: Mapping[str, _Judge] = {
    "at_least_one": _at_least_one,
    "at_most_one": _at_most_one,
    "cidr": _cidr,
    "conflicts": _conflicts,
    "exactly_one": _exactly_one,
    "length": _length,
    "metadata_tags": _metadata_tags,
    "name": _name,
    "not_pattern": _not_pattern,
    "one_of": _one_of,
    "only_with": _only_with,
    "pattern": _pattern,
    "policy": _policy,
    "ports": _ports,
    "range": _range,
    "ratio": _ratio,
    "tags": _tags,
}
