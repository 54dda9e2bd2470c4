"""Each case is what was found on which host, and the verdict that must follow."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.model.facet import Cost, ParityClass
from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.snapshot import NotObserved
from gpuprov.model.waiver import Waiver
from gpuprov.parity.types import Compared, FailOn, Parity, Terms, WaiverTrouble
from gpuprov.parity.verdict import judge

FILE = next(p for p in Path(__file__).parents if p.name == "tests") / "cases" / "parity" / "verdict.yaml"
CASES = yaml.safe_load(FILE.read_text())
WORDS = {"different": Known("other"), "missing": Absent(), "unknown": Unknown("timed out"), "unexpected": Known("x")}


def finding(host: str, text: str) -> Finding:
    """Read `different: address`, or `different: address (informational)`."""
    kind, _, rest = text.partition(": ")
    address, _, parity = rest.partition(" (")
    return Finding(
        address=address,
        host=host,
        kind=FindingKind(kind),
        expected=Absent() if kind == "unexpected" else Known("wanted"),
        observed=WORDS.get(kind, Known("old")),
        sides=("lock", host),
        parity=ParityClass(parity.rstrip(")")) if parity else ParityClass.MUST_EQUAL,
        cost=Cost.NOTHING,
        reason="",
    )


def verdict_of(case: dict[str, Any]) -> Parity:
    compared = [
        Compared(
            host=host,
            findings=tuple(finding(host, text) for text in found),
            facets=case.get("facets", {}).get(host, 40),
        )
        for host, found in case.get("compared", {}).items()
    ]
    missing = [
        NotObserved(host=host, code="GP-SSH-001", reason="it does not answer", off=host in case.get("switched_off", []))
        for host in case.get("missing", [])
    ]
    waivers = [Waiver(facet=facet, reason="agreed", until=until) for facet, until in case.get("waivers", {}).items()]
    terms = Terms(
        today="2026-11-30",
        waivers=tuple(waivers),
        fail_on=frozenset(FailOn(name) for name in case.get("fail_on", [])),
        whole=case.get("whole", True),
    )
    return judge(compared, terms, not_observed=missing)


@pytest.mark.parametrize("name", CASES)
def test_verdict(name: str) -> None:
    case = CASES[name]
    parity = verdict_of(case)
    assert int(parity.status) == case["status"]
    assert [host.host for host in parity.not_compared] == case.get("not_compared", case.get("missing", []))
    assert [found.address for found in parity.waived] == case.get("waived", [])
    if "groups" in case:
        assert [
            {"hosts": list(group.hosts), "findings": [found.address for found in group.findings]}
            for group in parity.groups
        ] == case["groups"]
    if "rows" in case:
        assert {row.finding.address: list(row.hosts) for row in parity.rows} == case["rows"]
    told = [f"{diagnostic.code} {diagnostic.severity}: {diagnostic.summary}" for diagnostic in parity.diagnostics]
    assert told == case.get("diagnostics", [])
    assert [finding.text for finding in parity.waivers] == case.get("waiver_findings", [])


def test_every_host_is_in_one_group_or_not_compared() -> None:
    for case in CASES.values():
        parity = verdict_of(case)
        grouped = [host for group in parity.groups for host in group.hosts]
        everybody = {*case.get("compared", {}), *case.get("missing", [])}
        assert sorted(grouped) == sorted(parity.hosts)
        assert {*grouped, *(host.host for host in parity.not_compared)} == everybody


def test_a_verdict_that_is_done_has_compared_something() -> None:
    for case in CASES.values():
        parity = verdict_of(case)
        assert parity.status or parity.facets


def test_a_waiver_in_trouble_is_a_finding_with_a_stable_id() -> None:
    (late,) = verdict_of({"compared": {"node-1": []}, "waivers": {"host.os": "2026-11-29"}}).waivers
    (again,) = verdict_of({"compared": {"n": ["different: host.os"]}, "waivers": {"host.os": "2026-11-28"}}).waivers
    assert late.id == again.id
    assert (late.address, late.waiver.reason, late.trouble) == ("parity.waivers[0]", "agreed", WaiverTrouble.EXPIRED)
