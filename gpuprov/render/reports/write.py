"""Reports onto stdout and into files, several at once."""

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from gpuprov.parity.report import report_body
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import diagnostics_body
from gpuprov.render.parity_text import show_parity
from gpuprov.render.reports.github import github_text
from gpuprov.render.reports.html import html_text
from gpuprov.render.reports.junit import junit_text
from gpuprov.render.reports.markdown import markdown_text
from gpuprov.render.reports.sarif import sarif_text
from gpuprov.render.reports.types import ParityReport, ReportFormat, ReportKind
from gpuprov.render.terminal import Terminal, text_terminal
from gpuprov.store.files import write_text

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half a character, which JSON can name and UTF-8 cannot hold."""


def write_reports(report: ParityReport, formats: Iterable[ReportFormat], terminal: Terminal) -> None:
    """Write a report in each of the forms that were asked for; files first, so that no result is told when one fails.

    Raises:
        GpuprovError: GP-DOC-007 when a file cannot be written.
    """
    for wanted in sorted(formats, key=lambda f: f.file is None):
        if wanted.file is not None:
            write_text(wanted.file, report_text(report, wanted.kind))
        elif wanted.kind is ReportKind.TABLE:
            # With the terminal's own colours and width; errors stand on stderr, where a command tells them.
            if report.parity is not None:
                show_parity(report.parity, terminal)
        else:
            # Past the console: it would expand tabs, and fold what a program reads.
            terminal.out.file.write(report_text(report, wanted.kind))


def report_text(report: ParityReport, kind: ReportKind) -> str:
    """A report in one form, with its last line break."""
    return _TEXTS[kind](report)


def _table_text(report: ParityReport) -> str:
    stream = io.StringIO()
    terminal = text_terminal(stream)
    show_diagnostics(report.diagnostics, terminal)
    if report.parity is not None:
        show_parity(report.parity, terminal)
    return stream.getvalue()


def _json_text(report: ParityReport) -> str:
    errors = {"diagnostics": diagnostics_body(report.diagnostics)}
    body = report_body(report.parity) if report.parity is not None else errors
    text = json.dumps(body, indent=2, ensure_ascii=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


_TEXTS: Final[Mapping[ReportKind, Callable[[ParityReport], str]]] = {
    ReportKind.TABLE: _table_text,
    ReportKind.JSON: _json_text,
    ReportKind.JUNIT: junit_text,
    ReportKind.SARIF: sarif_text,
    ReportKind.MARKDOWN: markdown_text,
    ReportKind.HTML: html_text,
    ReportKind.GITHUB: github_text,
}
