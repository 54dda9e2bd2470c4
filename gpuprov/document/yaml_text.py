"""YAML text to a Node tree; what makes YAML surprising is refused, each with its place."""

from typing import Any, Final

import yaml

from gpuprov.document.node import Entry, MappingNode, Node, Scalar, SequenceNode, Style, Tag
from gpuprov.document.text import SPEC_LIMIT, check_mark, check_size, span_at, split_lines
from gpuprov.document.yaml_tabs import find_tab
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Span

MAX_DEPTH: Final = 32
"""Deepest nesting of mappings and lists."""

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STYLES: Final[dict[str | None, Style]] = {
    None: "plain",
    "": "plain",
    "'": "quoted",
    '"': "quoted",
    "|": "block",
    ">": "block",
}
_TAGS: Final[frozenset[str]] = frozenset({"str", "int", "float", "bool", "null", "timestamp"})


def parse_yaml(text: str, file: str, limit: int = SPEC_LIMIT) -> Node:
    """Read one YAML document.

    Args:
        text: the document; it must be UTF-8 clean (see `decode_text`).
        file: its name, for spans.
        limit: most bytes allowed.

    Raises:
        GpuprovError: GP-DOC-002 when the text is not YAML, GP-DOC-003 for each construct that is not allowed
            (anchors, aliases, merge keys, tags, directives, duplicate keys, several documents, tabs, deep nesting).
    """
    check_mark(text, file)
    check_size(len(text.encode("utf-8", "surrogatepass")), file, limit)
    reader = _Reader(text, file)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except (yaml.YAMLError, UnicodeEncodeError, RecursionError) as error:
        raise GpuprovError(*reader.problems, _broken(error, reader.lines, text, file)) from error
    if reader.root is None:
        reader.refuse(Span(file=file, line=1, column=1), "the document is empty", "write at least one key")
    tab = find_tab(reader.lines, reader.scalars)
    if tab is not None:
        reader.refuse(span_at(reader.lines, file, *tab), "a tab between the parts of the text", "use spaces")
    if reader.problems or reader.root is None:
        raise GpuprovError(*reader.problems)
    return reader.root


def yaml_value(node: Scalar) -> str:
    """What YAML 1.1 makes of a plain scalar, as text for people: `12.1` of `12.10`, `false` of `off`."""
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
        self._resolver: Any = yaml.resolver.Resolver()

    def refuse(self, span: Span, what: str, hint: str) -> None:
        """Note one construct that is not allowed."""
        self.problems.append(Diagnostic(code="GP-DOC-003", summary=what, hint=hint, span=span))

    def take(self, event: Any) -> None:
        """Take the next event of the parser."""
        if isinstance(event, yaml.AliasEvent):
            self.refuse(self._span(event), f"the alias *{event.anchor}", "write the value out where it is used")
            self._add(Scalar("", "plain", "null", self._span(event)))
        elif isinstance(event, yaml.ScalarEvent):
            self._check_properties(event)
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._check_properties(event)
            if len(self._open) >= MAX_DEPTH:
                self.refuse(self._span(event), f"nesting deeper than {MAX_DEPTH} levels", "check the indentation")
                raise GpuprovError(*self.problems)
            self._open.append((isinstance(event, yaml.MappingStartEvent), self._span(event), []))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._close()
        elif isinstance(event, yaml.DocumentStartEvent):
            self._document(event)

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents == 2:  # noqa: PLR2004 - the second one is the first too many
            self.refuse(self._span(event), "a second document in one file", "keep one document in a file")
        if event.version or event.tags:
            self.refuse(self._span(event), "a YAML directive", "remove the line that starts with %")

    def _check_properties(self, event: Any) -> None:
        if event.anchor is not None:
            self.refuse(self._span(event), f"the anchor &{event.anchor}", "write the value out where it is used")
        if event.tag is not None:
            self.refuse(self._span(event), f"the tag {event.tag}", "remove the tag; quote the value to make it text")

    def _scalar(self, event: Any) -> None:
        style = _STYLES[event.style]
        start, end = event.start_mark, event.end_mark
        self.scalars.append((start.line, start.column, end.line, end.column))
        tag: Tag = "str"
        if style == "plain":
            full = self._resolver.resolve(yaml.ScalarNode, event.value, (True, False))
            short = full.rpartition(":")[2]
            tag = short if short in _TAGS else "other"
        self._add(Scalar(event.value, style, tag, self._span(event)))

    def _close(self) -> None:
        is_mapping, span, children = self._open.pop()
        if not is_mapping:
            self._add(SequenceNode(tuple(children), span))
            return
        entries: dict[str, Entry] = {}
        for key, value in zip(children[::2], children[1::2], strict=True):
            if not isinstance(key, Scalar):
                self.refuse(key.span, "a key that is itself a mapping or a list", "write a plain word as the key")
            elif key.style == "plain" and key.text == "<<":
                self.refuse(key.span, "the merge key <<", "write the merged keys out")
            elif key.text in entries:
                first = entries[key.text].key.span.line
                self.refuse(
                    key.span,
                    f'the key "{key.text}" for a second time',
                    f"keep one of the two; the first is in line {first}",
                )
            else:
                entries[key.text] = Entry(key, value)
        self._add(MappingNode(tuple(entries.values()), span))

    def _add(self, node: Node) -> None:
        if self._open:
            self._open[-1][2].append(node)
        elif self.root is None:
            self.root = node

    def _span(self, event: Any) -> Span:
        start, end = event.start_mark, event.end_mark
        end_column = end.column + 1 if end.line == start.line and end.column > start.column else None
        return span_at(self.lines, self.file, start.line + 1, start.column + 1, end_column)


def _broken(error: Exception, lines: list[str], text: str, file: str) -> Diagnostic:
    """Say what the parser could not read."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    if mark is not None:
        span = span_at(lines, file, mark.line + 1, mark.column + 1)
    else:
        offset = getattr(error, "position", None) or getattr(error, "start", None) or 0
        before = split_lines(text[:offset])
        span = span_at(lines, file, len(before), len(before[-1]) + 1)
    leading = span.text[: len(span.text) - len(span.text.lstrip())]
    if "\t" in leading:
        return Diagnostic(
            code="GP-DOC-003",
            summary="a tab in the indentation",
            hint="indent with spaces",
            span=span_at(lines, file, span.line, leading.index("\t") + 1),
        )
    context = getattr(error, "context", None)
    return Diagnostic(
        code="GP-DOC-002",
        summary=f"the text is not YAML: {problem}",
        detail=str(context).strip() if context else "",
        hint="check the indentation, the quotes and the brackets just before this place",
        span=span,
    )
