"""Diagnostics on screen: `error[GP-...] address: sentence`, the source line with a caret, detail, hint."""

from collections.abc import Iterable
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from gpuprov.model.diagnostic import Diagnostic, Severity, Span
from gpuprov.render.terminal import Terminal

_INDENT: Final = "  "
_LONGEST: Final = 1000
"""Characters of one line of a diagnostic."""
_LINE: Final = 140
"""Characters that are shown of a line of a file."""
_BESIDE: Final = 60
"""Of a longer line: characters before the place."""


def show_diagnostics(diagnostics: Iterable[Diagnostic], terminal: Terminal) -> None:
    """Print each diagnostic once, in the order given, on stderr."""
    for diagnostic in dict.fromkeys(diagnostics):
        terminal.err.print(diagnostic_text(diagnostic))


def diagnostic_text(diagnostic: Diagnostic) -> Text:
    """One diagnostic as text with styles; readable without colour, and nothing of a file's text steers the terminal."""
    text = Text()
    text.append(f"{diagnostic.severity}[{diagnostic.code}]", style=_style(diagnostic.severity))
    subject = f" {_plain(diagnostic.address)}:" if diagnostic.address else ""
    text.append(f"{subject} {_plain(diagnostic.summary)}", style="name")
    if diagnostic.span is not None:
        _append_span(text, diagnostic.span)
    for line in diagnostic.detail.splitlines():
        text.append(f"\n{_INDENT}{_plain(line)}")
    if diagnostic.source:
        text.append(f"\n{_INDENT}source: {_plain(diagnostic.source)}", style="quiet")
    if diagnostic.hint:
        text.append(f"\n{_INDENT}hint:", style="hint")
        text.append(f" {_plain(diagnostic.hint)}")
    return text


def _style(severity: Severity) -> str:
    return {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}[severity]


def _plain(text: str) -> str:
    """Text on one line: what cannot be printed is written as an escape, and what is too long is cut."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    if shown.isprintable():
        return shown
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in shown)


def _append_span(text: Text, span: Span) -> None:
    text.append(f"\n{_INDENT}--> {_plain(span.file)}:{span.line}:{span.column}", style="place")
    if not span.text:
        return
    number = str(span.line)
    gutter = " " * len(number)
    before, at, after = _around(span)
    text.append(f"\n{_INDENT}{gutter} |\n{_INDENT}{number} | {before}{at}{after}\n", style="place")
    text.append(f"{_INDENT}{gutter} | ", style="place")
    text.append(" " * cell_len(before) + "^" * max(1, cell_len(at)), style="error")


def _around(span: Span) -> tuple[str, str, str]:
    """What stands before, at and after a place in its line; of a long line only the part around the place."""
    line = "".join(
        " " if mark == "\t" else mark if mark.isprintable() else "\ufffd" for mark in span.text.rstrip("\r\n")
    )
    start = span.column - 1
    end = max(start + 1, (span.end_column or span.column + 1) - 1)
    first = max(0, start - _BESIDE) if len(line) > _LINE else 0
    last = max(first + _LINE, min(end, start + _LINE))
    before = ("..." if first else "") + line[first:start].ljust(start - first)
    return before, line[start : min(end, last)], line[end:last] + ("..." if last < len(line) else "")
