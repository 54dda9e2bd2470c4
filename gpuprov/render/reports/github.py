"""Workflow commands of GitHub Actions: an annotation for each disagreement, at its line of the spec or the lock.

Form: docs.github.com, "Workflow commands for GitHub Actions" (2026-11-30). A step shows at most ten annotations of a
level; what goes beyond is said in the tenth, not lost in silence.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gpuprov.compare.finding_id import finding_id
from gpuprov.model.diagnostic import Diagnostic, Severity, Span
from gpuprov.model.finding import FindingKind
from gpuprov.parity.types import Row
from gpuprov.render.observation import printable
from gpuprov.render.reports.types import ParityReport
from gpuprov.render.reports.words import (
    counted,
    finding_sentence,
    missing_sentence,
    verdict_sentence,
)

_SHOWN: Final = 10
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_NAMES: Final = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class _Annotation:
    level: str
    title: str
    text: str
    place: Span | None = None


def github_text(report: ParityReport) -> str:
    """Write a report as workflow commands, one a line, and the verdict as plain text for the log."""
    lines: list[str] = []
    annotations = list(_annotations(report))
    for level in ("error", "warning", "notice"):
        of_level = [annotation for annotation in annotations if annotation.level == level]
        lines += [_command(annotation) for annotation in of_level[: _SHOWN - 1]]
        rest = of_level[_SHOWN - 1 :]
        if len(rest) == 1:
            lines.append(_command(rest[0]))
        elif rest:
            text = "; ".join(annotation.text.partition("\n")[0] for annotation in rest)
            lines.append(_command(_Annotation(level=level, title=f"{len(rest)} more", text=text)))
    return "\n".join([*lines, verdict_sentence(report)]) + "\n"


def _annotations(report: ParityReport) -> Iterator[_Annotation]:
    for row in report.rows:
        yield _of_row(row, report)
    for lost in report.not_compared:
        text = "\n".join(part for part in (missing_sentence(lost), lost.detail, lost.hint) if part)
        yield _Annotation(level="warning", title=f"{lost.host} not compared", text=text)
    for waiver in report.parity.waivers if report.parity is not None else ():
        yield _Annotation(
            level="error" if waiver.counts else "warning",
            title=f"waiver {waiver.trouble}",
            text=f"{waiver.text}\nreason given: {waiver.waiver.reason}",
            place=report.places.get(waiver.id),
        )
    for diagnostic in report.diagnostics:
        yield _of_diagnostic(diagnostic)


def _of_row(row: Row, report: ParityReport) -> _Annotation:
    finding = row.finding
    others = row.hosts[1:]
    more = f"\nand on {_names(others)}" if others else ""
    unknown = finding.kind is FindingKind.UNKNOWN
    return _Annotation(
        level="warning" if unknown else "error",
        title=f"{finding.kind}: {finding.address}",
        text=f"{finding_sentence(finding)}{more}\n{finding.reason} ({finding_id(finding)})",
        place=report.place(finding),
    )


def _names(hosts: tuple[str, ...]) -> str:
    if len(hosts) <= _NAMES:
        return ", ".join(hosts)
    return f"{', '.join(hosts[:_NAMES])} and {counted(len(hosts) - _NAMES, 'other')}"


def _of_diagnostic(diagnostic: Diagnostic) -> _Annotation:
    subject = f"{diagnostic.address}: " if diagnostic.address else ""
    hint = f"hint: {diagnostic.hint}" if diagnostic.hint else ""
    parts = (f"{subject}{diagnostic.summary}", diagnostic.detail, hint)
    return _Annotation(
        level=_LEVELS[diagnostic.severity],
        title=diagnostic.code,
        text="\n".join(part for part in parts if part),
        place=diagnostic.span,
    )


def _command(annotation: _Annotation) -> str:
    properties = [("title", printable(annotation.title))]
    place = annotation.place
    if place is not None:
        where = [("file", printable(place.file)), ("line", str(place.line)), ("col", str(place.column))]
        end = [("endColumn", str(place.end_column))] if place.end_column is not None else []
        properties = [*where, *end, *properties]
    written = ",".join(f"{name}={_escaped(value, property_=True)}" for name, value in properties)
    return f"::{annotation.level} {written}::{_escaped(printable(annotation.text))}"


def _escaped(text: str, *, property_: bool = False) -> str:
    """Escape as the runner's own toolkit does; without it a value of a host could be a command of its own."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if property_ else text
