"""Diagnostics on screen: `error[GP-...] address: sentence`, the source line with a caret, detail, hint."""

from collections.abc import Iterable
from typing import Final

from rich.text import Text

from gpuprov.model.diagnostic import Diagnostic, Severity, Span
from gpuprov.render.terminal import Terminal

_INDENT: Final = "  "


def show_diagnostics(diagnostics: Iterable[Diagnostic], terminal: Terminal) -> None:
    """Print each diagnostic once, in the order given, on stderr."""
    for diagnostic in dict.fromkeys(diagnostics):
        terminal.err.print(diagnostic_text(diagnostic))


def diagnostic_text(diagnostic: Diagnostic) -> Text:
    """One diagnostic as text with styles; readable without colour."""
    text = Text()
    text.append(f"{diagnostic.severity}[{diagnostic.code}]", style=_style(diagnostic.severity))
    subject = f" {diagnostic.address}:" if diagnostic.address else ""
    text.append(f"{subject} {diagnostic.summary}", style="name")
    if diagnostic.span is not None:
        _append_span(text, diagnostic.span)
    for line in diagnostic.detail.splitlines():
        text.append(f"\n{_INDENT}{line}")
    if diagnostic.source:
        text.append(f"\n{_INDENT}source: {diagnostic.source}", style="quiet")
    if diagnostic.hint:
        text.append(f"\n{_INDENT}hint:", style="hint")
        text.append(f" {diagnostic.hint}")
    return text


def _style(severity: Severity) -> str:
    return {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}[severity]


def _append_span(text: Text, span: Span) -> None:
    text.append(f"\n{_INDENT}--> {span.file}:{span.line}:{span.column}", style="place")
    if not span.text:
        return
    number = str(span.line)
    gutter = " " * len(number)
    width = max(1, (span.end_column or span.column + 1) - span.column)
    shown = span.text.replace("\t", " ").rstrip("\n")
    width = min(width, max(1, len(shown) - span.column + 1))
    text.append(f"\n{_INDENT}{gutter} |\n{_INDENT}{number} | {shown}\n{_INDENT}{gutter} | ", style="place")
    text.append(" " * (span.column - 1) + "^" * width, style="error")
