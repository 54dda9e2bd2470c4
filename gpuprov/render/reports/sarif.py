"""SARIF 2.1.0: a result per finding, at its line of the spec or the lock, with an id that stays from run to run."""

import json
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from gpuprov.compare.facets import facet_of
from gpuprov.compare.finding_id import finding_id
from gpuprov.model.address import pattern_of
from gpuprov.model.codes import CODES
from gpuprov.model.diagnostic import Diagnostic, Severity, Span
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.snapshot import NotObserved
from gpuprov.parity.types import WaiverFinding
from gpuprov.render.observation import printable
from gpuprov.render.reports.types import ParityReport
from gpuprov.render.reports.words import finding_sentence, missing_sentence

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT: Final = "%SRCROOT%"
_FINGERPRINT: Final = "gpuprovFinding/v1"
_WAIVERS: Final = "parity.waivers"
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}

Body = dict[str, Any]


def sarif_text(report: ParityReport) -> str:
    """Write a report as SARIF.

    Results are the findings with a say in the status and the waived ones, which are suppressed with the waiver's
    reason; hosts that could not be compared are notifications, since there is no result to show for them.
    """
    findings = (*report.findings, *report.waived)
    waivers = report.parity.waivers if report.parity is not None else ()
    rules = sorted({pattern_of(finding.address) for finding in findings} | ({_WAIVERS} if waivers else set()))
    places = {rule: place for place, rule in enumerate(rules)}
    run = {
        "tool": {"driver": _driver(report, rules)},
        "automationDetails": {"id": "gpuprov/parity/"},
        "originalUriBaseIds": {_ROOT: {"description": {"text": "the root of the repository"}}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report)],
        "results": [
            *(_result(finding, report, places) for finding in findings),
            *(_waiver_result(waiver, report, places) for waiver in waivers),
        ],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _driver(report: ParityReport, rules: Iterable[str]) -> Body:
    codes = sorted({d.code for d in report.diagnostics} | {host.code for host in report.not_compared})
    return {
        "name": "gpuprov",
        **({"version": report.version} if report.version else {}),
        "rules": [_rule(pattern) for pattern in rules],
        "notifications": [{"id": code, "shortDescription": {"text": CODES[code].title}} for code in codes],
    }


def _rule(pattern: str) -> Body:
    if pattern == _WAIVERS:
        return {"id": _WAIVERS, "shortDescription": {"text": "a waiver that has expired or covers nothing"}}
    facet = facet_of(pattern)
    return {
        "id": pattern,
        "shortDescription": {"text": facet.reason},
        "help": {"text": f"gpuprov explain '{pattern}'"},
        "properties": {"tags": [facet.parity.value]},
    }


def _result(finding: Finding, report: ParityReport, rules: Mapping[str, int]) -> Body:
    pattern = pattern_of(finding.address)
    text = f"{finding_sentence(finding)}. {printable(finding.reason)}"
    body = {
        "ruleId": pattern,
        "ruleIndex": rules[pattern],
        "level": "warning" if finding.kind is FindingKind.UNKNOWN else "error",
        "message": {"text": text},
        "locations": [_location(report.place(finding), finding.host, finding.address)],
        "partialFingerprints": {_FINGERPRINT: finding_id(finding)},
        "properties": {"kind": finding.kind.value, "host": finding.host, "curable": finding.curable},
    }
    if finding.waiver is not None:
        why = printable(f"{finding.waiver.reason} (until {finding.waiver.until})")
        body["suppressions"] = [{"kind": "external", "status": "accepted", "justification": why}]
    return body


def _waiver_result(waiver: WaiverFinding, report: ParityReport, rules: Mapping[str, int]) -> Body:
    return {
        "ruleId": _WAIVERS,
        "ruleIndex": rules[_WAIVERS],
        "level": "error" if waiver.counts else "warning",
        "message": {"text": printable(f"{waiver.text}. Reason given: {waiver.waiver.reason}")},
        "locations": [_location(report.places.get(waiver.id), "", waiver.address)],
        "partialFingerprints": {_FINGERPRINT: waiver.id},
    }


def _location(place: Span | None, host: str, address: str) -> Body:
    named = f"{host}::{address}" if host else address
    logical = [{"name": printable(address), "fullyQualifiedName": printable(named)}]
    physical = {"physicalLocation": _physical(place)} if place is not None else {}
    return {**physical, "logicalLocations": logical}


def _physical(place: Span) -> Body:
    absolute = PurePath(place.file).is_absolute()
    uri = ("file://" if absolute else "") + quote(PurePath(place.file).as_posix())
    region: Body = {"startLine": place.line, "startColumn": place.column}
    if place.end_column is not None:
        region["endColumn"] = place.end_column
    if place.text:
        region["snippet"] = {"text": printable(place.text)}
    return {"artifactLocation": {"uri": uri, **({} if absolute else {"uriBaseId": _ROOT})}, "region": region}


def _invocation(report: ParityReport) -> Body:
    taken = report.parity.taken if report.parity is not None else ""
    lost = [_lost(host) for host in report.not_compared]
    return {
        "executionSuccessful": report.parity is not None,
        "exitCode": int(report.status),
        **({"startTimeUtc": taken} if taken else {}),
        "toolExecutionNotifications": [*lost, *(_notification(d) for d in report.diagnostics)],
    }


def _lost(host: NotObserved) -> Body:
    text = ". ".join(part for part in (missing_sentence(host), printable(host.hint)) if part)
    return {
        "descriptor": {"id": host.code},
        "level": "error",
        "message": {"text": text},
        "locations": [{"logicalLocations": [{"name": host.host}]}],
    }


def _notification(diagnostic: Diagnostic) -> Body:
    parts = (diagnostic.summary, diagnostic.detail, f"hint: {diagnostic.hint}" if diagnostic.hint else "")
    body: Body = {
        "descriptor": {"id": diagnostic.code},
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": printable("\n".join(part for part in parts if part))},
    }
    if diagnostic.span is not None:
        body["locations"] = [{"physicalLocation": _physical(diagnostic.span)}]
    return body
