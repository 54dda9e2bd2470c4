"""From a Node tree to frozen values by their types: one walk, every error with its address and its place."""

import re
import types
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass, replace
from typing import Any, Final, Union, get_args, get_origin

from gpuprov.document.node import MappingNode, Node, Scalar, SequenceNode, describe_node
from gpuprov.document.yaml_text import MAX_PROBLEMS
from gpuprov.model.address import join
from gpuprov.model.diagnostic import Diagnostic, Span
from gpuprov.spec.about import About
from gpuprov.spec.fields import field_type, is_required
from gpuprov.spec.suggest import did_you_mean, elsewhere
from gpuprov.spec.texts import read_flag, read_integer, read_text
from gpuprov.spec.written import LIST_SHORTHANDS, SHORTHANDS

_ANY: Final = About("")


class EnoughError(Exception):
    """There are so many problems that nothing more is looked for."""


class Decoder:
    """Decodes one document; the problems and the places of all addresses are left in it.

    A field that cannot be decoded gets a placeholder of its type and its address is in `broken`, so that the whole
    document is always built and later checks can go on with what is sound.
    """

    def __init__(self) -> None:
        self.problems: list[Diagnostic] = []
        self.spans: dict[str, Span] = {}
        self.broken: set[str] = set()
        self._told: set[tuple[str, Span, str]] = set()

    def refuse(self, address: str, problem: Diagnostic) -> None:
        """Note a problem; the same problem at the same place is told once, also when a pool inherits it.

        Raises:
            EnoughError: so many problems are noted that nothing more is looked for.
        """
        self.broken.add(address)
        if problem.span is not None:
            told = (problem.code, problem.span, address.rpartition(".")[2])
            if told in self._told:
                return
            self._told.add(told)
        self.problems.append(problem)
        if len(self.problems) >= MAX_PROBLEMS:
            raise EnoughError

    def sound(self, address: str) -> bool:
        """Whether an address, and everything above it, was decoded."""
        ends = (place for place, character in enumerate(address) if character in ".[")
        return address not in self.broken and not any(address[:end] in self.broken for end in ends)

    def span(self, address: str) -> Span | None:
        """The place of an address, or of the nearest thing above it that was written."""
        while address not in self.spans and address:
            address = re.sub(r"(\.?[^.\[]+|\[[^\]]*\])$", "", address)
        return self.spans.get(address)

    def decode(self, hint: Any, node: Node, address: str, about: About = _ANY) -> Any:
        """Decode a node as a type; returns a placeholder where it cannot.

        Args:
            hint: the type: text, number, truth value, dataclass, or optional, tuple or mapping of these.
            node: the node.
            address: its dotted path.
            about: what is said of the field.
        """
        self.spans.setdefault(address, node.span)
        if isinstance(node, Scalar) and node.tag == "refused":
            self.broken.add(address)
            return placeholder(hint)
        return self._not_yet(node, address, about) if about.not_yet else self._decode(hint, node, address, about)

    def _decode(self, hint: Any, node: Node, address: str, about: About) -> Any:
        inner, optional = _optional(hint)
        if isinstance(node, Scalar) and optional and self._is_none(node, about):
            return None
        if is_dataclass(inner) and isinstance(inner, type):
            return self._dataclass(inner, node, address, about)
        origin = get_origin(inner)
        if origin is tuple:
            return self._list(get_args(inner)[0], node, address, about)
        if origin is Mapping:
            return self._names(get_args(inner)[1], node, address, about)
        return self._scalar(inner, node, address, about)

    def _is_none(self, node: Scalar, about: About) -> bool:
        return node.text == about.none_word if about.none_word else node.is_null and about.null

    def _not_yet(self, node: Node, address: str, about: About) -> None:
        nothing = (isinstance(node, Scalar) and (node.is_null or node.text in about.nothing)) or (
            isinstance(node, MappingNode | SequenceNode)
            and not (node.entries if isinstance(node, MappingNode) else node.items)
        )
        if not nothing:
            self.refuse(address, not_converged(address, about, self._place(node, address), f"`{address}`"))

    def _dataclass(self, cls: type, node: Node, address: str, about: About) -> Any:
        listed = isinstance(node, SequenceNode)
        short = (LIST_SHORTHANDS if listed else SHORTHANDS).get(cls.__name__)
        if short is not None and (listed or (isinstance(node, Scalar) and not node.is_null)):
            hint, of_field = field_type(next(f for f in fields(cls) if f.name == short))
            return cls(**{short: self.decode(hint, node, address, of_field)})
        if not isinstance(node, MappingNode):
            self._wrong_type(address, node, "a mapping with the keys " + ", ".join(f.name for f in fields(cls)), about)
            return placeholder(cls)
        known = {f.name: f for f in fields(cls)}
        values: dict[str, Any] = {}
        for entry in node.entries:
            if entry.key.text not in known:
                self._unknown_key(cls, entry.key, address)
        # In the order of the type, so that what a pool inherits is told where it was written.
        order = list(known)
        for entry in sorted((e for e in node.entries if e.key.text in known), key=lambda e: order.index(e.key.text)):
            key = entry.key.text
            at = join(address, key)
            # A mapping or list stands where its key stands; a single value where it is written itself.
            self.spans[at] = entry.value.span if isinstance(entry.value, Scalar) else entry.key.span
            hint, of_field = field_type(known[key])
            values[key] = self.decode(hint, entry.value, at, of_field)
        for name, spec_field in known.items():
            if name not in values and is_required(spec_field):
                hint, _ = field_type(spec_field)
                values[name] = self._missing(spec_field, node, address) if node.whole else placeholder(hint)
        return cls(**values)

    def _list(self, hint: Any, node: Node, address: str, about: About) -> tuple[Any, ...]:
        if about.single and isinstance(node, Scalar) and not node.is_null:
            return (self.decode(hint, node, address, about),)
        if not isinstance(node, SequenceNode):
            self._wrong_type(address, node, "a list", about)
            return ()
        return tuple(self.decode(hint, item, f"{address}[{i}]", about) for i, item in enumerate(node.items))

    def _names(self, hint: Any, node: Node, address: str, about: About) -> dict[str, Any]:
        if not isinstance(node, MappingNode):
            self._wrong_type(address, node, "a mapping of names", about)
            return {}
        values = {}
        for entry in node.entries:
            at = join(address, entry.key.text)
            self.spans[at] = entry.key.span
            problem = read_text(entry.key, at, About("", check=about.key))
            if isinstance(problem, Diagnostic):
                self.refuse(at, problem)
            else:
                values[problem] = self.decode(hint, entry.value, at, About("", check=about.check))
        return values

    def _scalar(self, hint: Any, node: Node, address: str, about: About) -> Any:
        read = {int: read_integer, bool: read_flag}.get(hint, read_text)
        value = read(node, address, about)
        if isinstance(value, Diagnostic):
            self.refuse(address, replace(value, span=self._place(node, address)))
            return placeholder(hint)
        if value in about.later:
            self.refuse(address, not_converged(address, about, node.span, f"`{address}: {value}`"))
        return value

    def _wrong_type(self, address: str, node: Node, expected: str, about: About) -> None:
        example = f"for example `{address.rpartition('.')[2]}: {about.example}`" if about.example else ""
        if about.none_word:
            example += f", or `{about.none_word}`"
        self.refuse(
            address,
            Diagnostic(
                code="GP-SPEC-002",
                summary=f"{describe_node(node)} stands here",
                address=address,
                detail=f"Expected: {expected}.",
                hint=example or "`gpuprov init` writes a spec to start from",
                span=self._place(node, address),
            ),
        )

    def _place(self, node: Node, address: str) -> Span:
        """A mapping or list is shown at its key, which says more than its first bracket."""
        return node.span if isinstance(node, Scalar) else self.spans.get(address, node.span)

    def _unknown_key(self, cls: type, key: Scalar, address: str) -> None:
        names = [f.name for f in fields(cls)]
        self.refuse(
            join(address, key.text),
            Diagnostic(
                code="GP-SPEC-001",
                summary=f'no key "{key.text}" is known {"in " + address if address else "at the top of a spec"}',
                address=join(address, key.text),
                detail="Known keys: " + ", ".join(names) + ".",
                hint=did_you_mean(key.text, names) or elsewhere(key.text),
                span=key.span,
            ),
        )

    def _missing(self, spec_field: "Field[Any]", node: MappingNode, address: str) -> Any:
        hint, about = field_type(spec_field)
        at = join(address, spec_field.name)
        example = f"write `{spec_field.name}: {about.example}`" if about.example else f"add the key {spec_field.name}"
        if about.none_word:
            example += f", or `{spec_field.name}: {about.none_word}`"
        self.refuse(
            at,
            Diagnostic(
                code="GP-SPEC-004",
                summary=f"the key {spec_field.name} is missing",
                address=at,
                detail=about.text,
                hint=example,
                span=self.spans.get(address, node.span),
            ),
        )
        return placeholder(hint)


def not_converged(address: str, about: About, span: Span | None, what: str) -> Diagnostic:
    """The refusal of something that the spec knows and this release does not converge (GP-SPEC-006)."""
    return Diagnostic(
        code="GP-SPEC-006",
        summary=f"{what} is not converged by this release",
        address=address,
        detail=about.not_yet or f"{about.text} This release builds: {', '.join(c for c in about.choices)}.",
        hint="take it out of the spec; gpuprov refuses what it would otherwise ignore",
        span=span,
    )


def placeholder(hint: Any) -> Any:
    """An empty value of a type, for a field that could not be decoded."""
    inner, optional = _optional(hint)
    if optional or inner is object:
        return None
    if is_dataclass(inner) and isinstance(inner, type):
        return inner(**{f.name: placeholder(field_type(f)[0]) for f in fields(inner) if is_required(f)})
    origin = get_origin(inner)
    if origin is tuple:
        return ()
    return {} if origin is Mapping else inner()


def _optional(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) in {types.UnionType, Union}:
        inner = [member for member in get_args(hint) if member is not type(None)]
        return inner[0], len(inner) < len(get_args(hint))
    return hint, False
