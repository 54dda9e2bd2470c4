"""One page for a browser: verdict, findings with a filter, and what could not be compared."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Final

from gpuprov.compare.finding_id import finding_id
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.fact import Evidence
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.status import ExitStatus
from gpuprov.model.waiver import Waiver
from gpuprov.parity.types import DriverRow, Group, Row
from gpuprov.render.observation import observation_text, printable
from gpuprov.render.reports.page import cells, code, page, section, table, text
from gpuprov.render.reports.types import ParityReport
from gpuprov.render.reports.words import (
    between_text,
    counted,
    finding_sentence,
    sides_text,
    verdict_sentence,
    verdict_word,
)

_CLASSES: Final = {ExitStatus.DONE: "good", ExitStatus.INCOMPLETE: "warn"}
_NAMES: Final = 12
"""Host names that stand in a row; further ones are folded away."""


def html_text(report: ParityReport) -> str:
    """Write a report as a page."""
    parts = [
        _header(report),
        _findings(report),
        _not_compared(report),
        _groups(report),
        _drivers(report),
        _waived(report),
        _told(report),
        _without_effect(report),
    ]
    return page(f"gpuprov parity: {verdict_word(report)}", "\n".join(part for part in parts if part))


def _header(report: ParityReport) -> str:
    style = _CLASSES.get(report.status, "bad")
    word, _, numbers = verdict_sentence(report).partition(": ")
    between = between_text(report.parity)
    taken = report.parity.taken if report.parity is not None else ""
    about = [f"compared: {code(between)}" if between else "", f"looked at {text(taken)}" if taken else ""]
    version = f" {text(report.version)}" if report.version else ""
    return (
        f'<header><h1>gpuprov parity</h1><p><span class="verdict {style}">{text(word)}</span> {text(numbers)}</p>'
        f'<p class="quiet">{"; ".join([*(part for part in about if part), f"gpuprov{version}"])}</p></header>'
    )


def _findings(report: ParityReport) -> str:
    """The table is there without findings too: it is what the filter's script works on."""
    rows = report.rows
    hosts = len(report.parity.hosts) if report.parity is not None else 0
    ids = {(finding.address, finding.host): finding_id(finding) for finding in report.findings}
    listed = table(
        ("what", "facet", "first side", "second side", "hosts", "why it matters"),
        (_row(row, hosts, report, ids) for row in rows),
        name="findings",
    )
    more = "<code>gpuprov explain ID</code> says more of one finding" if rows else "none with a say in the status"
    return section("Findings", f'<p class="quiet">{more}</p>{_filter(rows)}\n{listed}')


def _filter(rows: Sequence[Row]) -> str:
    kinds = "".join(
        f'<label><input type="checkbox" name="kind" value="{kind.value}" checked> {text(kind.value)}</label>'
        for kind in FindingKind
        if any(row.finding.kind is kind for row in rows)
    )
    hosts = sorted({host for row in rows for host in row.hosts})
    options = "".join(f'<option value="{text(host)}">{text(host)}</option>' for host in hosts)
    return (
        '<form id="filter" hidden>'
        '<label>filter <input type="search" name="words" placeholder="words of a row"></label>'
        f'<label>host <select name="host"><option value="">all</option>{options}</select></label>'
        f'{kinds}<button type="reset">clear</button> <output id="shown" aria-live="polite"></output></form>'
    )


def _row(row: Row, hosts: int, report: ParityReport, ids: Mapping[tuple[str, str], str]) -> str:
    finding = row.finding
    (first, expected), (second, observed) = sides_text(finding)
    other = text(second) if len(row.hosts) == 1 else "hosts"
    style = "warn" if finding.kind is FindingKind.UNKNOWN else "bad"
    names = escape(json.dumps([printable(host) for host in row.hosts], ensure_ascii=False))
    content = cells(
        f'<span class="kind {style}">{text(finding.kind.value)}</span>',
        code(finding.address),
        f'<span class="quiet">{text(first)}</span><br>{code(expected)}',
        f'<span class="quiet">{other}</span><br>{code(observed)}',
        _hosts(row.hosts, hosts),
        text(finding.reason) + _more(row, report, ids),
    )
    return f'<tr id="{finding_id(finding)}" data-kind="{finding.kind.value}" data-hosts="{names}">{content}</tr>'


def _hosts(hosts: Sequence[str], of: int) -> str:
    names = ", ".join(text(host) for host in hosts[:_NAMES])
    rest = ", ".join(text(host) for host in hosts[_NAMES:])
    folded = f"<details><summary>{len(hosts) - _NAMES} more</summary>{rest}</details>" if rest else ""
    return f"{len(hosts)} of {of}<br>{names}{folded}"


def _more(row: Row, report: ParityReport, ids: Mapping[tuple[str, str], str]) -> str:
    """What a reader asks next: where it is written, on what evidence it stands, what changing it costs."""
    finding = row.finding
    place = report.place(finding)
    pairs = [
        ("ids" if len(row.hosts) > 1 else "id", ", ".join(code(ids[finding.address, host]) for host in row.hosts)),
        ("class", text(finding.parity.value)),
        ("rule", code(finding.rule) if finding.rule else ""),
        ("wanted by", text(finding.origin)),
        ("line", code(f"{place.file}:{place.line}") if place is not None else ""),
        ("to change it", text(finding.cost.value) if finding.curable else "not curable by <code>gpuprov up</code>"),
    ]
    pairs += [
        (f"seen on {text(seen.side)}", f"{text(seen.taken)}, {_evidence(seen.evidence)}") for seen in finding.evidence
    ]
    listed = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in pairs if value)
    return f"<details><summary>details</summary><dl>{listed}</dl></details>"


def _evidence(evidence: Evidence) -> str:
    return f"collector {code(evidence.collector)}, status {evidence.status}, output {code(evidence.digest)}"


def _not_compared(report: ParityReport) -> str:
    rows = [
        f"<tr>{cells(text(lost.host), text(lost.reason), _lines(lost.detail, lost.hint), code(lost.code))}</tr>"
        for lost in report.not_compared
    ]
    return section("Not compared", table(("host", "why", "more", "code"), rows)) if rows else ""


def _groups(report: ParityReport) -> str:
    parity = report.parity
    if parity is None or not parity.groups:
        return ""
    anchors = {(row.finding.address, host): finding_id(row.finding) for row in report.rows for host in row.hosts}
    groups = [replace(group, hosts=tuple(sorted(group.hosts))) for group in parity.groups]
    groups.sort(key=lambda group: (-len(group.hosts), group.hosts))
    rows = [_group(group, len(parity.hosts), anchors) for group in groups]
    return section("Hosts by what they have in common", table(("hosts", "findings"), rows))


def _group(group: Group, of: int, anchors: Mapping[tuple[str, str], str]) -> str:
    findings = sorted(group.findings, key=lambda finding: finding.address)
    links = (f'<a href="#{anchors[f.address, f.host]}">{code(f.address)}</a>' for f in findings)
    return f"<tr>{cells(_hosts(group.hosts, of), '<br>'.join(links) or 'in sync')}</tr>"


def _drivers(report: ParityReport) -> str:
    parity = report.parity
    if parity is None or not parity.drivers:
        return ""
    drivers = [replace(row, hosts=tuple(sorted(row.hosts))) for row in parity.drivers]
    drivers.sort(key=lambda row: (-len(row.hosts), row.hosts))
    head = ("hosts", "driver is", "package", "module on disk", "module loaded", "NVML")
    return section("The driver's four facts", table(head, (_driver(row, len(parity.hosts)) for row in drivers)))


def _driver(row: DriverRow, of: int) -> str:
    facts = row.facts
    seen = (facts.package, facts.on_disk, facts.loaded, facts.nvml)
    values = (code(observation_text(observation)) for observation in seen)
    return f"<tr>{cells(_hosts(row.hosts, of), text(row.state.value), *values)}</tr>"


def _waived(report: ParityReport) -> str:
    rows = [_waived_row(finding, finding.waiver) for finding in report.waived if finding.waiver is not None]
    return section("Waived", table(("facet", "host", "finding", "reason", "until"), rows)) if rows else ""


def _waived_row(finding: Finding, waiver: Waiver) -> str:
    about = code(finding.address), text(finding.host), text(finding_sentence(finding))
    return f"<tr>{cells(*about, text(waiver.reason), text(waiver.until))}</tr>"


def _told(report: ParityReport) -> str:
    """Errors, warnings and notes, and waivers that have expired or cover nothing."""
    waivers = report.parity.waivers if report.parity is not None else ()
    rows = [
        f"<tr>{cells(_badge('warning'), code(w.address), text(w.text), text(f'reason given: {w.waiver.reason}'))}</tr>"
        for w in waivers
    ]
    rows += [_diagnostic(diagnostic) for diagnostic in report.diagnostics]
    return section("Notes and warnings", table(("", "about", "what", "more"), rows)) if rows else ""


def _diagnostic(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    place = f"<br>{code(f'{span.file}:{span.line}:{span.column}')}" if span is not None else ""
    about = (code(diagnostic.address) if diagnostic.address else "") + place
    what = f"{text(diagnostic.summary)} ({code(diagnostic.code)})"
    more = _lines(diagnostic.detail, diagnostic.hint)
    return f"<tr>{cells(_badge(diagnostic.severity.value), about, what, more)}</tr>"


def _badge(severity: str) -> str:
    style = {Severity.ERROR.value: "bad", Severity.WARNING.value: "warn"}.get(severity, "quiet")
    return f'<span class="kind {style}">{text(severity)}</span>'


def _lines(detail: str, hint: str) -> str:
    lines = [*detail.splitlines(), *([f"hint: {hint}"] if hint else [])]
    return "<br>".join(text(line) for line in lines)


def _without_effect(report: ParityReport) -> str:
    """What differs without a say in the status, each facet once: names and uptimes differ between any two hosts."""
    findings = [f for f in report.parity.findings if not f.counts] if report.parity is not None else []
    if not findings:
        return ""
    number = Counter(finding.address for finding in findings)
    first = {finding.address: finding for finding in sorted(findings, key=lambda f: (f.address, f.host), reverse=True)}
    rows = [_may_differ(finding, number[address]) for address, finding in sorted(first.items())]
    listed = table(("facet", "class", "differs on", "for example"), rows)
    summary = f"{counted(len(rows), 'facet')} that may differ"
    return section("Also different, without effect", f"<details><summary>{summary}</summary>{listed}</details>")


def _may_differ(finding: Finding, hosts: int) -> str:
    about = code(finding.address), text(finding.parity.value), counted(hosts, "host")
    return f"<tr>{cells(*about, text(finding_sentence(finding)))}</tr>"
