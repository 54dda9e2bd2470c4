"""YAML text to a Node tree; what makes YAML surprising is refused, each with its place."""

import re
import unicodedata
from dataclasses import replace
from typing import Any, Final

import yaml

from gpuprov.document.node import Entry, MappingNode, Node, Scalar, SequenceNode, Style, Tag
from gpuprov.document.text import SPEC_LIMIT, check_mark, check_size, span_at, split_lines
from gpuprov.document.yaml_between import find_unseen
from gpuprov.document.yaml_errors import broken_yaml
from gpuprov.model.address import join
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Span

MAX_DEPTH: Final = 32
"""Deepest nesting of mappings and lists."""
MAX_VALUES: Final = 100_000
"""Most scalars, lists and mappings of a document."""
MAX_PROBLEMS: Final = 100
"""After so many problems nothing more is looked for: the first ones say what is wrong."""
_WRITE_OUT: Final = "write the value out where it is used"
_REFERENCES: Final = "References are not read: a value stands where it counts, and no text grows out of a few lines."
_TAGGED: Final = "The field decides about the type, not the text."
_FIRST: Final = "Only the first one would count."
_TAB: Final = "YAML allows it here, and columns then lie."
_CONVERTED: Final = 64
"""Longest scalar that is converted to show what YAML makes of it."""

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STYLES: Final[dict[str | None, Style]] = {
    None: "plain",
    "": "plain",
    "'": "quoted",
    '"': "quoted",
    "|": "block",
    ">": "block",
}
_NOT_TYPED: Final = re.compile(
    "^[\u2018\u2019\u201c\u201d\u00ab\u00bb]|[\t\u00a0\u2007\u202f\u200b-\u200f\u2060\ufeff]"
)
"""Characters that look like quotes or blanks and are none to YAML, or not to each of its readers."""
_TAGS: Final[frozenset[str]] = frozenset({"str", "int", "float", "bool", "null", "timestamp"})


def parse_yaml(text: str, file: str, limit: int = SPEC_LIMIT) -> Node:
    """Read one YAML document that must be without fault.

    Args:
        text: the document; it must be UTF-8 clean (see `decode_text`).
        file: its name, for spans.
        limit: most bytes allowed.

    Raises:
        GpuprovError: everything that `read_yaml` finds.
    """
    root, problems = read_yaml(text, file, limit)
    if problems or root is None:
        raise GpuprovError(*problems)
    return root


def read_yaml(text: str, file: str, limit: int = SPEC_LIMIT) -> tuple[Node | None, tuple[Diagnostic, ...]]:
    """Read one YAML document as far as it can be understood, so that everything wrong is told in one run.

    Args:
        text: the document.
        file: its name, for spans.
        limit: most bytes allowed.

    Returns:
        The tree, and what is wrong: GP-DOC-003 for each construct that is not allowed (anchors, aliases, merge keys,
        tags, directives, duplicate keys, several documents, tabs, deep nesting); its place in the tree holds a scalar
        with the tag `refused`. GP-DOC-002 when the text is not YAML; there is no tree then, nor of an empty document.
    """
    reader = _Reader(text, file)
    try:
        check_mark(text, file)
        check_size(len(text.encode("utf-8", "surrogatepass")), file, limit)
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
        if reader.root is None or (isinstance(reader.root, Scalar) and reader.root.is_null and not reader.root.text):
            reader.refuse(Span(file=file, line=1, column=1), "the document is empty", "write at least one key")
        for line, column, mark in find_unseen(reader.lines, reader.scalars):
            span = span_at(reader.lines, file, line, column)
            if mark == "\t":
                reader.refuse(span, "a tab stands between the parts of the text", "use spaces", _TAB)
            else:
                reader.refuse(span, "a byte order mark stands inside of the text", "remove it; editors do not show it")
    except GpuprovError as error:
        return None, (*reader.problems, *error.diagnostics)
    except (yaml.YAMLError, UnicodeEncodeError, RecursionError) as error:
        return None, (*reader.problems, broken_yaml(error, text, file))
    return reader.root, tuple(reader.problems)


def yaml_value(node: Scalar) -> str:
    """What YAML 1.1 makes of a plain scalar, as text for people: `12.1` of `12.10`, `false` of `off`."""
    if len(node.text) > _CONVERTED:
        return node.tag
    try:
        value = yaml.safe_load(node.text)
    except (yaml.YAMLError, ValueError, OverflowError):
        return node.tag
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Reader:
    """Builds the tree from parser events with an own stack, so that nesting cannot exhaust Python's."""

    def __init__(self, text: str, file: str) -> None:
        self.lines = split_lines(text)
        self.file = file
        self.problems: list[Diagnostic] = []
        self.scalars: list[tuple[int, int, int, int]] = []
        self.root: Node | None = None
        self._open: list[tuple[bool, Span, list[Node]]] = []
        self._documents = 0
        self._values = 0
        self._resolver: Any = yaml.resolver.Resolver()

    def refuse(self, span: Span, what: str, hint: str, detail: str = "", *, at: str | None = None) -> None:
        """Note one construct that is not allowed; raises GpuprovError after the last that is noted.

        Args:
            span: its place.
            what: a sentence.
            hint: the way on.
            detail: what YAML makes of it, or why it is refused.
            at: its address; None for what is being read.
        """
        self.problems.append(replace(_refusal(span, what, hint, detail), address=self._address() if at is None else at))
        if len(self.problems) == MAX_PROBLEMS:
            raise GpuprovError(_refusal(span, f"{MAX_PROBLEMS} problems; reading ended here", "mend these first"))

    def take(self, event: Any) -> None:
        """Take the next event of the parser; raises GpuprovError where reading must end."""
        if isinstance(event, yaml.AliasEvent):
            self.refuse(self._span(event), f"the alias *{event.anchor} stands here", _WRITE_OUT, _REFERENCES)
            self._add(Scalar("", "plain", "refused", self._span(event)))
        elif isinstance(event, yaml.ScalarEvent):
            self._check_properties(event)
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._check_properties(event)
            if len(self._open) >= MAX_DEPTH:
                what = f"the text is nested deeper than {MAX_DEPTH} levels"
                raise GpuprovError(_refusal(self._span(event), what, "check the indentation"))
            self._open.append((isinstance(event, yaml.MappingStartEvent), self._span(event), []))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._close()
        elif isinstance(event, yaml.DocumentStartEvent):
            self._document(event)

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents == 2:  # noqa: PLR2004 - the second one is the first too many
            self.refuse(self._span(event), "a second document begins here", "keep one document in a file", _FIRST)
        if event.version or event.tags:
            self.refuse(self._span(event), "a YAML directive stands here", "remove the line that starts with %")

    def _check_properties(self, event: Any) -> None:
        if event.anchor is not None:
            self.refuse(self._span(event), f"the anchor &{event.anchor} stands here", _WRITE_OUT, _REFERENCES)
        if event.tag is not None:
            self.refuse(
                self._span(event),
                f"the tag {event.tag} stands here",
                "remove it; quote the value to make it text",
                _TAGGED,
            )

    def _scalar(self, event: Any) -> None:
        style = _STYLES[event.style]
        start, end = event.start_mark, event.end_mark
        self.scalars.append((start.line, start.column, end.line, end.column))
        tag: Tag = "str"
        if style == "plain":
            full = self._resolver.resolve(yaml.ScalarNode, event.value, (True, False))
            short = full.rpartition(":")[2]
            tag = short if short in _TAGS else "other"
        if event.tag is not None or (style == "plain" and not self._is_typed(event)):
            tag = "refused"
        self._add(Scalar(event.value, style, tag, self._span(event)))

    def _is_typed(self, event: Any) -> bool:
        found = _NOT_TYPED.search(event.value)
        if found is not None:
            name = "tab" if found[0] == "\t" else unicodedata.name(found[0]).lower()
            what = f"the character U+{ord(found[0]):04X} ({name}) stands in text without quotes"
            hint = "it may come from a word processor or a web page: type a plain blank, or a plain quote, in its place"
            self.refuse(self._span(event), what, hint)
        return found is None

    def _close(self) -> None:
        is_mapping, span, children = self._open.pop()
        if not is_mapping:
            self._add(SequenceNode(tuple(children), span))
            return
        entries: dict[str, Entry] = {}
        whole, here = True, self._address()
        for key, value in zip(children[::2], children[1::2], strict=True):
            if not isinstance(key, Scalar):
                self._no_key(key)
            elif key.style == "plain" and key.text == "<<":
                self.refuse(key.span, "the merge key << stands here", "write the merged keys out", _REFERENCES)
                whole = False
            elif key.tag == "refused":
                whole = False
            elif key.text in entries:
                first = entries[key.text].key.span.line
                self.refuse(
                    key.span,
                    f'the key "{key.text}" stands here for a second time',
                    f"keep one of the two; the first is in line {first}",
                    "YAML takes the last one, without a word.",
                    at=join(here, key.text),
                )
            else:
                entries[key.text] = Entry(key, value)
        self._add(MappingNode(tuple(entries.values()), span, whole))

    def _no_key(self, key: Node) -> None:
        if key.span.text[key.span.column - 2 : key.span.column] == "{{":
            hint = "gpuprov's documents have no templates: write the value itself"
            self.refuse(key.span, "a template in double braces stands here", hint)
        else:
            self.refuse(
                key.span, "a key that is itself a mapping or a list stands here", "write a plain word as the key"
            )

    def _add(self, node: Node) -> None:
        self._values += 1
        if self._values > MAX_VALUES:
            what = f"the text has more than the {MAX_VALUES} values that are read"
            raise GpuprovError(_refusal(node.span, what, "check that this is the right file"))
        if self._open:
            self._open[-1][2].append(node)
        elif self.root is None:
            self.root = node

    def _address(self) -> str:
        """The address of the value that comes next; at a key, of the mapping that it is in."""
        address = ""
        for is_mapping, _, children in self._open:
            if not is_mapping:
                address += f"[{len(children)}]"
            elif len(children) % 2 and isinstance(children[-1], Scalar):
                address = join(address, children[-1].text)
        return address

    def _span(self, event: Any) -> Span:
        start, end = event.start_mark, event.end_mark
        end_column = end.column + 1 if end.line == start.line and end.column > start.column else None
        return span_at(self.lines, self.file, start.line + 1, start.column + 1, end_column)


def _refusal(span: Span, what: str, hint: str, detail: str = "") -> Diagnostic:
    return Diagnostic(code="GP-DOC-003", summary=what, detail=detail, hint=hint, span=span)
