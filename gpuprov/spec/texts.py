"""One scalar to a text, a number or a truth value; a Diagnostic where YAML would change it or it is not allowed."""

import re
from typing import Final

from gpuprov.document.node import Node, Scalar, describe_node
from gpuprov.document.yaml_text import yaml_value
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.about import About
from gpuprov.spec.scalars import CHECKS
from gpuprov.spec.suggest import did_you_mean

_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_EXPONENT: Final = re.compile(r"[0-9]+(\.[0-9]*)?[eE][+-]?[0-9]+")
_FLAGS: Final = {"true": True, "false": False}
_CHANGED: Final = ("int", "float", "bool", "timestamp")


def read_text(node: Node, address: str, about: About) -> str | Diagnostic:
    """Read a text that a field's check allows.

    Codes: GP-SPEC-002 (no text), GP-SPEC-003 (YAML would or could change it), GP-SPEC-005 (not allowed).
    """
    check = CHECKS[about.check]
    expected = f"one of {', '.join(about.choices)}" if about.choices else check.expected
    if not isinstance(node, Scalar) or node.is_null:
        return _wrong(address, node, expected, about)
    if node.style == "plain" and (check.quoted or node.tag not in check.tags):
        return _unquoted(address, node, expected, about)
    if about.choices:
        allowed = (*about.choices, *about.later)
        problem = "" if node.text in allowed else f'"{node.text}" is not one of {", ".join(allowed)}'
        hint = did_you_mean(node.text, list(allowed))
    else:
        problem, hint = check.refuse(node.text), ""
    if not problem:
        return node.text
    return Diagnostic(
        code="GP-SPEC-005",
        summary=problem,
        address=address,
        detail=f"Expected: {expected}.",
        hint=hint or (f"for example {about.example}" if about.example else ""),
        span=node.span,
    )


def read_integer(node: Node, address: str, about: About) -> int | Diagnostic:
    """Read a number in plain decimal digits within the field's bounds (GP-SPEC-002, GP-SPEC-005)."""
    expected = f"a number from {about.minimum} to {about.maximum}"
    if not isinstance(node, Scalar) or node.style != "plain" or not _NUMBER.fullmatch(node.text):
        return _wrong(address, node, expected, about)
    value = int(node.text)
    if about.minimum <= value <= about.maximum:
        return value
    return Diagnostic(
        code="GP-SPEC-005",
        summary=f"the number {value} is out of bounds",
        address=address,
        detail=f"Expected: {expected}.",
        span=node.span,
    )


def read_flag(node: Node, address: str, about: About) -> bool | Diagnostic:
    """Read `true` or `false`; YAML's other spellings (on, no, yes) are refused by name (GP-SPEC-002)."""
    if isinstance(node, Scalar) and node.style == "plain" and node.text in _FLAGS:
        return _FLAGS[node.text]
    return _wrong(address, node, "true or false", about)


def _wrong(address: str, node: Node, expected: str, about: About) -> Diagnostic:
    made = ""
    if isinstance(node, Scalar) and node.style == "plain" and node.tag in _CHANGED and yaml_value(node) != node.text:
        made = f"YAML reads {node.text} as {yaml_value(node)}. "
    return Diagnostic(
        code="GP-SPEC-002",
        summary=f"{describe_node(node)} stands here",
        address=address,
        detail=f"{made}Expected: {expected}.",
        hint=f"for example {about.example}" if about.example else "",
        span=node.span,
    )


def _unquoted(address: str, node: Scalar, expected: str, about: About) -> Diagnostic:
    kinds = {"int": "the number", "float": "the number", "bool": "the truth value", "timestamp": "the date"}
    made = f"YAML reads {node.text} as {kinds[node.tag]} {yaml_value(node)}." if node.tag in kinds else ""
    if _EXPONENT.fullmatch(node.text) and not made:
        made = f"YAML 1.2 reads {node.text} as a number."
    elif CHECKS[about.check].quoted and yaml_value(node) == node.text:
        made += " Without quotes, YAML changes some texts of this kind: 12.10 becomes 12.1."
    return Diagnostic(
        code="GP-SPEC-003",
        summary=f"{node.text} is not quoted",
        address=address,
        detail=f"{made.strip()}\nExpected: {expected}.",
        hint=_quoted(node.text, about),
        span=node.span,
    )


def _quoted(text: str, about: About) -> str:
    """What to write in place of an unquoted text."""
    if about.choices:
        return f'write "{text}"' if text in about.choices else f"write {' or '.join(about.choices)}"
    return f"for example {about.example}" if about.example and CHECKS[about.check].refuse(text) else f'write "{text}"'
