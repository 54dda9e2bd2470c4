"""What the YAML parser could not read, said so that it can be mended: where it went wrong, and the usual cause."""

from dataclasses import dataclass
from typing import Any, Final

from gpuprov.document.text import span_at, split_lines
from gpuprov.model.diagnostic import Diagnostic, Span

_BETWEEN: Final = "something is missing between the parts of a list or a mapping"
_ELSE: Final = "check the indentation, the quotes and the brackets just before this place"


@dataclass(frozen=True, slots=True)
class _Cause:
    """One problem of the parser in the words of who writes YAML; `{here}` stands for the character at the place."""

    summary: str
    hint: str
    opened: bool = False
    """Whether something stays open: the place is then where it was opened."""
    after: bool = False
    """Whether the parser's place is one character after what it means."""


# Left: part of libyaml's sentence (0.2.5, as PyYAML gives it).
_CAUSES: Final[dict[str, _Cause]] = {
    "found unexpected end of stream": _Cause(
        "the quote that opens here is not closed", "close it, or take it away", opened=True
    ),
    "did not find expected ',' or ']'": _Cause(
        "the list that opens here is not closed", "write ] at its end, and a comma between its values", opened=True
    ),
    "did not find expected ',' or '}'": _Cause(
        "the mapping that opens here is not closed", "write }} at its end, and a comma between its keys", opened=True
    ),
    "mapping values are not allowed": _Cause(
        "a colon where no key can stand",
        "quote a value that holds `: `; else look at the line above: its indentation, and the blank after its colon",
    ),
    "could not find expected ':'": _Cause(
        "a line that is neither a key with its value nor a list's member", "write `key: value`, with the blank"
    ),
    "did not find expected alphabetic": _Cause(
        "a value cannot begin with {here} without quotes", 'put the whole value into quotes, such as "*"', after=True
    ),
    "cannot start any token": _Cause(
        "a value cannot begin with {here} without quotes", "put the whole value into quotes"
    ),
    "did not find expected comment or line break": _Cause(
        "a value cannot begin with > or | without quotes", 'put the whole value into quotes, such as ">=570,<590"'
    ),
    "found unknown escape character": _Cause(
        "a backslash in double quotes that YAML does not know", "write it twice, or use single quotes"
    ),
    "did not find expected key": _Cause(
        "neither a key of the mapping above nor its end",
        "line the keys of a mapping up; a quote inside of a quoted value is written twice",
    ),
    "did not find expected '-' indicator": _Cause(
        "a key where the list above goes on", "line it up with the mapping that it belongs to"
    ),
    "block sequence entries are not allowed": _Cause(
        "a list's member where none can stand", "begin the list on the next line, or write it as [a, b]"
    ),
    "did not find expected node content": _Cause(
        "a value is missing here", "write it, or mend the bracket or comma before it"
    ),
    "control characters are not allowed": _Cause("a control character", "remove it"),
}


def broken_yaml(error: Exception, text: str, file: str) -> Diagnostic:
    """Say what the parser could not read: GP-DOC-003 for a tab in the indentation, else GP-DOC-002.

    Args:
        error: of the parser.
        text: the document.
        file: its name.
    """
    lines = split_lines(text)
    span = _place(error, lines, text, file)
    leading = span.text[: len(span.text) - len(span.text.lstrip())]
    if "\t" in leading:
        return Diagnostic(
            code="GP-DOC-003",
            summary="a tab stands in the indentation",
            detail="YAML forbids it: how wide a tab is differs from editor to editor.",
            hint="indent with spaces",
            span=span_at(lines, file, span.line, leading.index("\t") + 1),
        )
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error).partition("\n")[0]
    cause = next((cause for words, cause in _CAUSES.items() if words in problem), None)
    opened = _opened(error, lines, file)
    detail = f"The parser says in line {span.line}: {problem}" + (f" ({opened[1]})." if opened else ".")
    if cause is None:
        return Diagnostic(code="GP-DOC-002", summary=f"not YAML: {problem}", detail=detail, hint=_ELSE, span=span)
    summary = cause.summary
    if cause.opened and opened is not None:
        if opened[0].line < span.line:
            span = opened[0]
        else:
            summary = _BETWEEN
    at = span.column - 1 - cause.after
    here = span.text[at : at + 1]
    return Diagnostic(
        code="GP-DOC-002",
        summary=f"not YAML: {summary.format(here=here)}",
        detail=detail,
        hint=cause.hint.format(here=here),
        span=span,
    )


def _place(error: Any, lines: list[str], text: str, file: str) -> Span:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        return span_at(lines, file, mark.line + 1, mark.column + 1)
    offset = getattr(error, "position", None) or getattr(error, "start", None) or 0
    before = split_lines(text[:offset])
    return span_at(lines, file, len(before), len(before[-1]) + 1)


def _opened(error: Any, lines: list[str], file: str) -> tuple[Span, str] | None:
    """Where what the parser was reading began, and what it was."""
    mark, context = getattr(error, "context_mark", None), getattr(error, "context", None)
    if mark is None or not context:
        return None
    return span_at(lines, file, mark.line + 1, mark.column + 1), f"{context} that begins in line {mark.line + 1}"
