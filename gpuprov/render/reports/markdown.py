"""Markdown for a pull request's comment or a job's summary: the verdict first, then a table."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gpuprov.compare.finding_id import finding_id
from gpuprov.parity.types import Row
from gpuprov.render.observation import printable
from gpuprov.render.reports.types import ParityReport
from gpuprov.render.reports.words import (
    between_text,
    counted,
    diagnostic_sentence,
    missing_sentence,
    sides_text,
    verdict_sentence,
)

_LONGEST: Final = 60_000
"""Characters: GitHub refuses a comment of more than 65,536 (docs.github.com, 2026-11-30); the rest is for the frame."""
_NAMES: Final = 6
_MARKS: Final = re.compile(r"[\\`*_\[\]<>#|~&$]")


def markdown_text(report: ParityReport) -> str:
    """Write a report as Markdown, as much of it as a comment can hold; what was left out is counted."""
    between = between_text(report.parity)
    head = ["### gpuprov parity", "", f"**{_plain(verdict_sentence(report))}**"]
    if between:
        head += ["", f"Compared: {_code(between)}"]
    blocks = [
        _table(("finding", "facet", "first side", "second side", "hosts"), _rows(report)),
        _list("Not compared", _lost(report)),
        _list("Waived", _waived(report)),
        _list("Notes and warnings", _told(report)),
    ]
    without = _without_effect(report)
    room = _LONGEST - sum(map(len, head)) - len(without)
    parts = [*head]
    for block in blocks:
        kept, room = _fit(block, room)
        parts += kept
    return "\n".join([*parts, *(["", without] if without else [])]) + "\n"


def _fit(block: Sequence[str], room: int) -> tuple[list[str], int]:
    """As many lines of a block as there is room for, and how much is left."""
    kept: list[str] = []
    for place, line in enumerate(block):
        room -= len(line) + 1
        if room < 0:
            more = counted(len(block) - place, "line")
            return [*kept, "", f"_{more} left out: the HTML and JSON reports hold all of them_"], 0
        kept.append(line)
    return kept, room


def _rows(report: ParityReport) -> Iterator[tuple[str, ...]]:
    hosts = len(report.parity.hosts) if report.parity is not None else 0
    for row in report.rows:
        (first, expected), (second, observed) = sides_text(row.finding)
        kind = f"**{row.finding.kind}** {_code(finding_id(row.finding))}"
        facet = f"{_code(printable(row.finding.address))}<br>{_plain(printable(row.finding.reason))}"
        yield (
            kind,
            facet,
            f"{_plain(first)}: {_code(expected)}",
            f"{_second(row, second)}: {_code(observed)}",
            (f"{len(row.hosts)} of {hosts}: {_names(row.hosts)}"),
        )


def _second(row: Row, name: str) -> str:
    return _plain(name) if len(row.hosts) == 1 else "hosts"


def _names(hosts: Sequence[str]) -> str:
    shown = ", ".join(_code(printable(host)) for host in hosts[:_NAMES])
    return shown if len(hosts) <= _NAMES else f"{shown} and {counted(len(hosts) - _NAMES, 'other')}"


def _lost(report: ParityReport) -> Iterator[str]:
    for lost in report.not_compared:
        yield _plain(f"{missing_sentence(lost)}{f' ({lost.hint})' if lost.hint else ''}")


def _waived(report: ParityReport) -> Iterator[str]:
    for finding in report.waived:
        if finding.waiver is not None:
            waiver = finding.waiver
            yield _plain(f"{finding.address} on {finding.host} until {waiver.until}: {waiver.reason}")


def _told(report: ParityReport) -> Iterator[str]:
    waivers = report.parity.waivers if report.parity is not None else ()
    yield from (_plain(f"{waiver.text} (reason given: {waiver.waiver.reason})") for waiver in waivers)
    yield from (_plain(diagnostic_sentence(diagnostic)) for diagnostic in report.diagnostics)


def _without_effect(report: ParityReport) -> str:
    """How much differs without a say in the status."""
    findings = report.parity.findings if report.parity is not None else ()
    without = sum(not finding.counts for finding in findings)
    return f"Also different, without effect: {counted(without, 'fact')}." if without else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [_line(row) for row in rows]
    return ["", _line(head), _line(["---"] * len(head)), *lines] if lines else []


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _list(title: str, items: Iterable[str]) -> list[str]:
    lines = [f"- {item}" for item in items]
    return ["", f"**{title}**", "", *lines] if lines else []


def _plain(text: str) -> str:
    """A text that Markdown shows as it is: no mark-up, no link, no mention of a person, no line break."""
    text = " ".join(printable(text).split())
    text = re.sub(_MARKS, r"\\\g<0>", text)
    # A zero-width joint would do as well, but nobody sees it; a code span keeps a name from being called.
    return re.sub(r"@(\w)", r"`@`\1", text)


def _code(text: str) -> str:
    """A text as code, in a table's cell too.

    A bar ends a cell even in a code span, a backslash before an escaped one ends it too, and a backtick ends the span:
    a text with one is written as an element, with all that Markdown knows as references.
    """
    text = " ".join(text.split()) or '""'
    if "|" not in text and "`" not in text:
        return f"`{text}`"
    return f"<code>{re.sub(_MARKS, lambda found: f'&#{ord(found[0])};', text)}</code>"
