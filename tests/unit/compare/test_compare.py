"""Each case is a want or a first host, a second host, and the findings that must follow."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from host_builders import edit, make_snapshot, make_want, observation, satisfied

from gpuprov.compare.compare import compare_snapshots, compare_want, count_comparable
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Evidence, Known, Unknown
from gpuprov.model.finding import Finding, FindingKind, SideEvidence
from gpuprov.model.snapshot import Snapshot
from gpuprov.want.expectations import expectations
from gpuprov.want.owned import owned_of
from gpuprov.want.types import Expectation

CASES = next(p for p in Path(__file__).parents if p.name == "tests") / "cases" / "compare"
AGAINST_WANT = yaml.safe_load((CASES / "want.yaml").read_text())
TWO_HOSTS = yaml.safe_load((CASES / "hosts.yaml").read_text())
STACK = {"libnvidia-common-535": "driver", "nvidia-utils-535": "driver"}


def told(finding: Finding) -> str:
    counts = "" if finding.counts else f" ({finding.parity})"
    return f"{finding.kind}: {finding.address}{counts}"


@pytest.mark.parametrize("name", AGAINST_WANT)
def test_against_a_want(name: str) -> None:
    case = AGAINST_WANT[name]
    want = make_want(gpus=case.get("gpus", True))
    host = edit(satisfied(want), {address: observation(value) for address, value in case["edit"].items()})
    findings = compare_want(expectations(want, owned_of(host)), host)
    assert [told(finding) for finding in findings] == case["findings"]
    for finding in findings:
        assert finding.sides == ("lock", "node-1")
    for address, words in case.get("reasons", {}).items():
        assert words in next(f.reason for f in findings if f.address == address)


def two(case: dict[str, Any]) -> tuple[Snapshot, Snapshot]:
    families = case.get("families", {})
    return tuple(  # type: ignore[return-value]
        make_snapshot(case[side], host, families.get(side)) for side, host in (("first", "a"), ("second", "b"))
    )


@pytest.mark.parametrize("name", TWO_HOSTS)
def test_two_hosts(name: str) -> None:
    case = TWO_HOSTS[name]
    first, second = two(case)
    findings = compare_snapshots(first, second, component_of=STACK.get).findings
    assert [told(finding) for finding in findings] == case["findings"]
    assert {(finding.host, finding.sides) for finding in findings} <= {("b", ("a", "b"))}
    for address, words in case.get("reasons", {}).items():
        assert words in next(f.reason for f in findings if f.address == address)


def test_a_finding_keeps_the_evidence_of_each_side_that_was_looked_at() -> None:
    seen = Evidence(collector="packages", status=0, digest="sha256:1")
    host = make_snapshot({'package["bash"].version': "5"}, "b")
    host = replace(host, facts={a: replace(fact, evidence=seen) for a, fact in host.facts.items()})
    first = make_snapshot({'package["bash"].version': "6", 'package["nvidia-utils-535"].version': "1"}, "a")
    found = compare_snapshots(first, host, component_of=STACK.get).findings
    # The second is absent on b: what says so is the look at all packages.
    assert [finding.evidence for finding in found] == [(SideEvidence(side="b", taken=host.taken, evidence=seen),)] * 2


def test_a_finding_names_its_rule_and_where_what_is_wanted_comes_from() -> None:
    want = make_want()
    host = edit(satisfied(want), {'package["libcuda1"].version': Known("570.1-1")})
    (finding,) = compare_want(expectations(want, owned_of(host)), host)
    assert finding.origin == "lock: libcuda1=580.95.05-1"
    case = TWO_HOSTS["names and boots differ between any two hosts"]
    kernel = compare_snapshots(*two(case), component_of=STACK.get).findings[1]
    assert (kernel.address, kernel.rule, kernel.counts) == ("host.kernel.release", "kernel-has-driver", False)
    assert "compatible by the rule kernel-has-driver" in kernel.reason


def test_a_finding_says_what_was_expected_and_what_was_seen() -> None:
    want = make_want()
    host = edit(satisfied(want), {'package["libcuda1"].version': Known("570.1-1")})
    (finding,) = compare_want(expectations(want, owned_of(host)), host)
    assert (finding.expected, finding.observed) == (Known("580.95.05-1"), Known("570.1-1"))
    assert finding.kind is FindingKind.DIFFERENT
    assert finding.reason == "the locked stack"


def test_what_can_be_compared_is_counted() -> None:
    first = make_snapshot({"host.os": "debian-12", "gpu.count": {"unknown": "x"}, 'package["a"].version': "1"})
    second = make_snapshot({"host.os": "debian-13", "gpu.count": 8})
    assert compare_snapshots(first, second, component_of=STACK.get).facets == 2
    assert compare_snapshots(make_snapshot({}), make_snapshot({}), component_of=STACK.get).facets == 0
    want = make_want()
    wanted = expectations(want, owned_of(satisfied(want)))
    assert count_comparable(wanted, satisfied(want)) == len(wanted)
    unseen = edit(satisfied(want), {e.address: Unknown("x") for e in wanted})
    assert count_comparable(wanted, unseen) == 0


def test_what_must_not_be_there_is_found_also_where_it_is_all_that_there_is() -> None:
    address = 'group["old"].members'
    expected = Expectation(address=address, value=Known(["gone"]), comparator="excludes", cost=Cost.NOTHING)
    for seen, count in ((["gone"], 1), (["gone", "eve"], 1), (["eve"], 0), ([], 0)):
        host = edit(make_snapshot({}), {address: observation(seen)})
        assert len(compare_want([expected], host)) == count, seen
