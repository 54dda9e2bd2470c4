"""Every form of a report: as it was when a person read it last, valid by its schema, and safe whatever a host says."""

import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st
from parity_reports import make_failure, make_finding, make_parity, make_report

from gpuprov.model.fact import Known
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.status import ExitStatus
from gpuprov.render.reports.html import html_text
from gpuprov.render.reports.types import ParityReport, ReportFormat, ReportKind
from gpuprov.render.reports.write import report_text, write_reports
from gpuprov.render.terminal import text_terminal

TESTS = next(path for path in Path(__file__).parents if path.name == "tests")
SCHEMAS = TESTS / "cases" / "schemas"
REPORTS = {"report": make_report, "failure": make_failure}
STABLE = [kind for kind in ReportKind if kind not in {ReportKind.TABLE, ReportKind.JSON}]
"""The forms of this room; the table and the JSON are the verdict's own."""
ANNOTATION = re.compile(r"::(error|warning|notice) (\w+=[^:,\n]*,)*\w+=[^:,\n]*::[^\n]*")


@pytest.fixture(scope="module")
def sarif_schema() -> Any:
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


@pytest.fixture(scope="module")
def junit_schema() -> Any:
    return xmlschema.XMLSchema(str(SCHEMAS / "junit-10.xsd"))


def of_findings(*findings: Finding) -> ParityReport:
    parity = replace(make_parity(), findings=findings, waived=(), groups=(), waivers=(), drivers=(), diagnostics=())
    return ParityReport(parity=parity, diagnostics=())


def moved(number: int) -> ParityReport:
    """A package moved on many hosts, another one on each."""
    return of_findings(
        *(
            make_finding(f'package["p{n:05}"].version', f"node-{n}", FindingKind.DIFFERENT, Known("1"), Known("2"))
            for n in range(number)
        )
    )


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("kind", [kind for kind in STABLE if kind is not ReportKind.HTML])
def test_a_form_is_as_it_was_read_last(name: str, kind: ReportKind) -> None:
    golden = TESTS / "golden" / "reports" / f"{name}.{kind.value}"
    assert report_text(REPORTS[name](), kind) == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", STABLE)
def test_the_order_of_hosts_and_findings_changes_nothing(kind: ReportKind) -> None:
    report = make_report()
    parity = report.parity
    assert parity is not None
    turned = replace(
        parity,
        findings=parity.findings[::-1],
        rows=parity.rows[::-1],
        groups=tuple(replace(g, hosts=g.hosts[::-1], findings=g.findings[::-1]) for g in parity.groups[::-1]),
        not_compared=parity.not_compared[::-1],
    )
    assert report_text(replace(report, parity=turned), kind) == report_text(report, kind)


@pytest.mark.parametrize("name", REPORTS)
def test_sarif_is_valid_and_its_rules_are_those_of_its_results(name: str, sarif_schema: Any) -> None:
    body = json.loads(report_text(REPORTS[name](), ReportKind.SARIF))
    assert [error.message for error in sarif_schema.iter_errors(body)] == []
    (run,) = body["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [r["ruleId"] for r in run["results"]]
    assert {rule["id"] for rule in rules} == {result["ruleId"] for result in run["results"]}
    ids = [result["partialFingerprints"]["gpuprovFinding/v1"] for result in run["results"]]
    assert len(ids) == len(set(ids))


def test_a_schema_refuses_what_is_no_sarif_and_no_junit(sarif_schema: Any, junit_schema: Any) -> None:
    body = json.loads(report_text(make_report(), ReportKind.SARIF))
    body["runs"][0]["results"][0]["message"] = "text"
    assert list(sarif_schema.iter_errors(body))
    assert not junit_schema.is_valid('<testsuites><testsuite name="a"/></testsuites>')


@pytest.mark.parametrize("name", REPORTS)
def test_junit_is_valid_and_counts_what_it_holds(name: str, junit_schema: Any) -> None:
    text = report_text(REPORTS[name](), ReportKind.JUNIT)
    assert [str(error) for error in junit_schema.iter_errors(text.partition("\n")[2])] == []
    for suite in ET.fromstring(text):  # noqa: S314 - ours
        counted = [len(suite.findall(f"testcase/{word}")) for word in ("failure", "error", "skipped")]
        assert counted == [int(suite.get(word, "")) for word in ("failures", "errors", "skipped")]
        assert len(suite.findall("testcase")) == int(suite.get("tests", ""))


def test_junit_tells_a_difference_from_what_nobody_could_see() -> None:
    root = ET.fromstring(report_text(make_report(), ReportKind.JUNIT))  # noqa: S314 - ours
    numbers = {suite.get("name"): (suite.get("failures"), suite.get("errors")) for suite in root}
    assert numbers["node-1"] == ("0", "0")
    assert numbers["node-2"] == ("1", "0")
    assert numbers["node-4"] == ("4", "1")
    assert numbers["node-5"] == ("0", "1")


class Page(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def values(self, name: str) -> list[str]:
        return [str(attributes[name]) for _, attributes in self.tags if name in attributes]


@pytest.mark.parametrize("name", REPORTS)
def test_a_page_asks_for_nothing_and_its_links_lead_somewhere(name: str) -> None:
    found = Page(html_text(REPORTS[name]()))
    assert found.values("src") == []
    links = found.values("href")
    assert [link for link in links if not link.startswith("#") and link != "data:,"] == []
    ids = found.values("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert not [attribute for _, attributes in found.tags for attribute in attributes if attribute.startswith("on")]


def test_a_page_holds_every_finding_without_its_script() -> None:
    report = make_report()
    text = html_text(report).partition("<script>")[0]
    assert [finding.address for finding in report.findings if finding.address.replace('"', "&quot;") not in text] == []
    assert "the exporter is replaced in May" in text
    assert "no answer" in text
    assert "host.kernel.release" in text


@given(value=st.text(), address=st.text(min_size=1), host=st.text(min_size=1), reason=st.text())
def test_law_no_value_of_a_host_breaks_a_form(value: str, address: str, host: str, reason: str) -> None:
    finding = make_finding(address, host, FindingKind.DIFFERENT, Known("x"), Known(value), reason=reason)
    report = of_findings(finding)
    ET.fromstring(report_text(report, ReportKind.JUNIT))  # noqa: S314 - ours
    json.loads(report_text(report, ReportKind.SARIF))
    json.loads(report_text(report, ReportKind.JSON))
    *annotations, _verdict = report_text(report, ReportKind.GITHUB).splitlines(keepends=False)
    assert [line for line in annotations if not ANNOTATION.fullmatch(line)] == []
    tags = [tag for tag, _ in Page(html_text(report)).tags]
    assert tags == [tag for tag, _ in Page(html_text(of_findings(replace(finding, observed=Known("y"))))).tags]
    for kind in ReportKind:
        report_text(report, kind).encode()


@given(value=st.text(alphabet="a|`\\\n@<*_[]()~$#- "))
def test_law_a_value_stays_in_its_cell_of_the_markdown_table(value: str) -> None:
    report = of_findings(make_finding("os", value or "n", FindingKind.DIFFERENT, Known(value), Known(value)))
    lines = report_text(report, ReportKind.MARKDOWN).splitlines()
    (row,) = [line for line in lines if line.startswith("| **different**")]
    # As GFM reads a row: a backslash and what follows it are one mark, and any other bar ends a cell.
    assert re.sub(r"\\.", "", row).count("|") == 6
    bare = re.sub(r"\\.|`[^`]*`|<code>[^<]*</code>|<br>|\*\*different\*\*", " ", row)
    assert not re.search(r"[`*_\[\]<#~$\\]|@\w", bare), row


def test_a_comment_is_never_longer_than_github_takes() -> None:
    text = report_text(moved(3000), ReportKind.MARKDOWN)
    assert len(text) < 65_536
    rows = text.count("| **different**")
    assert f"_{3000 - rows} lines left out" in text


@pytest.mark.parametrize(("number", "more"), [(10, ""), (11, "title=2 more"), (30, "title=21 more")])
def test_github_is_given_as_many_annotations_as_it_shows_and_the_last_holds_the_rest(number: int, more: str) -> None:
    errors = [line for line in report_text(moved(number), ReportKind.GITHUB).splitlines() if "::error" in line]
    assert len(errors) == 10
    assert more in errors[-1]
    assert f"p{number - 1:05}" in errors[-1]


def test_several_reports_at_once_and_stdout_holds_one(tmp_path: Path) -> None:
    stream = io.StringIO()
    formats = [
        ReportFormat(kind=ReportKind.MARKDOWN, file=None),
        ReportFormat(kind=ReportKind.JUNIT, file=str(tmp_path / "a.xml")),
        ReportFormat(kind=ReportKind.TABLE, file=str(tmp_path / "a.txt")),
    ]
    write_reports(make_report(), formats, text_terminal(stream))
    assert stream.getvalue() == report_text(make_report(), ReportKind.MARKDOWN)
    assert (tmp_path / "a.xml").read_text(encoding="utf-8") == report_text(make_report(), ReportKind.JUNIT)
    assert "1 host(s) not compared" in (tmp_path / "a.txt").read_text(encoding="utf-8")


def test_a_report_without_a_verdict_has_the_status_of_its_errors() -> None:
    assert make_failure().status is ExitStatus.USAGE
    assert make_report().status is ExitStatus.DIFFERENT
