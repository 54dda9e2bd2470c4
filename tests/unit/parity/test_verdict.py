"""Each case is what was found on which host, and the verdict that must follow."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.model.diagnostic import Severity
from gpuprov.model.facet import Cost, ParityClass
from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.finding import Finding, FindingKind, Waiver
from gpuprov.model.snapshot import NotObserved
from gpuprov.parity.types import Compared, Parity
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
        NotObserved(host=host, code="GP-SSH-001", reason="it does not answer") for host in case.get("missing", [])
    ]
    waivers = [Waiver(facet=facet, reason="agreed", until=until) for facet, until in case.get("waivers", {}).items()]
    return judge(compared, today="2026-11-30", not_observed=missing, waivers=waivers)


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


def test_waiver_trouble_is_a_warning() -> None:
    parity = verdict_of({"compared": {"node-1": []}, "waivers": {"host.os": "2026-11-29"}})
    assert [d.severity for d in parity.diagnostics] == [Severity.WARNING]
    assert "agreed" in parity.diagnostics[0].detail
