"""The tree that YAML text is read into: every scalar keeps its raw text, its quoting and the type YAML gives it."""

from dataclasses import dataclass
from typing import Literal

from gpuprov.model.diagnostic import Span

Style = Literal["plain", "quoted", "block"]
Tag = Literal["str", "int", "float", "bool", "null", "timestamp", "other", "refused"]
"""What YAML 1.1 makes of a scalar; `refused`: the reader refused what stood here, and its value is not known."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value as it was written."""

    text: str
    """The text after YAML's unquoting and folding, never converted."""
    style: Style
    tag: Tag
    """Quoted and block scalars are always `str`."""
    span: Span

    @property
    def is_null(self) -> bool:
        """Whether nothing was written here (`key:` or `key: null`)."""
        return self.tag == "null"


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping and its value."""

    key: Scalar
    value: "Node"


@dataclass(frozen=True, slots=True)
class MappingNode:
    """A mapping, in the order of the text; no key occurs twice."""

    entries: tuple[Entry, ...]
    span: Span
    whole: bool = True
    """False where a merge key was refused: what it would have brought is not known."""

    def get(self, key: str) -> "Node | None":
        """The value of a key, or None where the mapping does not have it."""
        return next((entry.value for entry in self.entries if entry.key.text == key), None)


@dataclass(frozen=True, slots=True)
class SequenceNode:
    """A list, in order."""

    items: tuple["Node", ...]
    span: Span


Node = Scalar | MappingNode | SequenceNode


def describe_node(node: Node) -> str:
    """What a node is, in words for an error: `the text "on"`, `a list`, `the number 12`."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    if node.is_null:
        return "nothing"
    shown = node.text if len(node.text) <= _SHOWN else node.text[:_SHOWN] + "..."
    words = {"int": "the number", "float": "the number", "bool": "the truth value", "timestamp": "the date"}
    return f"{words[node.tag]} {shown}" if node.tag in words else f'the text "{shown}"'


_SHOWN = 60
