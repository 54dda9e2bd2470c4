"""JUnit XML: a suite per host, a test case per finding, so that a CI system shows drift where it shows tests.

The form is the one of Jenkins' xUnit plugin (junit-10.xsd); the attributes and the order of elements that Apache Ant's
schema asks for besides are there too.
"""

from typing import Final
from xml.etree import ElementTree as ET

from gpuprov.compare.finding_id import finding_id
from gpuprov.model.diagnostic import Severity
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.parity.types import WaiverFinding
from gpuprov.render.observation import printable
from gpuprov.render.reports.types import ParityReport
from gpuprov.render.reports.words import (
    diagnostic_sentence,
    finding_sentence,
    missing_sentence,
    verdict_sentence,
)

_PACKAGE: Final = "gpuprov.parity"
_NO_TIME: Final = "0"
"""A finding takes no time of its own."""
_SECONDS: Final = len("2026-11-30T00:00:00")


def junit_text(report: ParityReport) -> str:
    """Write a report as JUnit XML.

    A difference is a failure; a fact or host that could not be observed an error; a waived finding is skipped.
    """
    root = ET.Element("testsuites")
    _verdict_suite(root, report)
    _host_suites(root, report)
    for place, suite in enumerate(root):
        _close_suite(suite, place, report)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _verdict_suite(root: ET.Element, report: ParityReport) -> None:
    """The comparison itself: it fails where nothing could be compared, and where a waiver counts."""
    suite = ET.SubElement(root, "testsuite", name="gpuprov", hostname="localhost")
    errors = [d for d in report.diagnostics if d.severity is Severity.ERROR]
    case = _case(suite, "compared")
    if errors:
        error = ET.SubElement(case, "error", type=errors[0].code, message=diagnostic_sentence(errors[0]))
        error.text = "\n".join(diagnostic_sentence(diagnostic) for diagnostic in errors)
    for waiver in report.parity.waivers if report.parity is not None else ():
        _waiver_case(suite, waiver)
    ET.SubElement(suite, "system-out").text = verdict_sentence(report)
    told = [diagnostic_sentence(d) for d in report.diagnostics if d.severity is not Severity.ERROR]
    ET.SubElement(suite, "system-err").text = "\n".join(told)


def _waiver_case(suite: ET.Element, waiver: WaiverFinding) -> None:
    case = _case(suite, waiver.address)
    element = ET.SubElement(case, "failure" if waiver.counts else "skipped", message=printable(waiver.text))
    if waiver.counts:
        # Not on a skipped case: Ant's schema knows no type of one.
        element.set("type", f"waiver {waiver.trouble}")
    element.text = printable(f"{waiver.id}\nreason given: {waiver.waiver.reason}")


def _host_suites(root: ET.Element, report: ParityReport) -> None:
    missing = {host.host: host for host in report.not_compared}
    hosts = set(missing) | set(report.parity.hosts if report.parity is not None else ())
    findings: dict[str, list[Finding]] = {host: [] for host in hosts}
    for finding in (*report.findings, *report.waived):
        findings.setdefault(finding.host, []).append(finding)
    for host in sorted(findings):
        suite = ET.SubElement(root, "testsuite", name=printable(host), hostname=printable(host))
        observed = _case(suite, "observed")
        if host in missing:
            lost = missing[host]
            error = ET.SubElement(observed, "error", type=lost.code, message=missing_sentence(lost))
            error.text = printable("\n".join(part for part in (lost.reason, lost.detail, lost.hint) if part))
        for finding in findings[host]:
            _finding_case(suite, finding, report)


def _finding_case(suite: ET.Element, finding: Finding, report: ParityReport) -> None:
    case = _case(suite, printable(f"{finding.address} against {finding.sides[0]}"))
    sentence = finding_sentence(finding)
    if finding.waiver is not None:
        message = printable(f"waived until {finding.waiver.until}: {finding.waiver.reason}")
        ET.SubElement(case, "skipped", message=message).text = f"{finding_id(finding)}\n{sentence}"
        return
    word = "error" if finding.kind is FindingKind.UNKNOWN else "failure"
    element = ET.SubElement(case, word, type=finding.kind.value, message=sentence)
    place = report.place(finding)
    lines = [finding_id(finding), sentence, printable(finding.reason), printable(finding.origin)]
    if place is not None:
        lines.append(printable(f"{place.file}:{place.line}"))
    element.text = "\n".join(line for line in lines if line)


def _case(suite: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=f"{_PACKAGE}.{suite.get('name')}", name=name, time=_NO_TIME)


def _close_suite(suite: ET.Element, place: int, report: ParityReport) -> None:
    """Give a suite its numbers, and the elements that come first and last."""
    cases = suite.findall("testcase")
    suite.set("id", str(place))
    suite.set("package", _PACKAGE)
    suite.set("tests", str(len(cases)))
    for attribute, word in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(word) is not None for case in cases)))
    suite.set("time", _NO_TIME)
    taken = report.parity.taken if report.parity is not None else ""
    if taken:
        suite.set("timestamp", taken[:_SECONDS])
    suite.insert(0, ET.Element("properties"))
    for word in ("system-out", "system-err"):
        if suite.find(word) is None:
            ET.SubElement(suite, word)
