"""Each case is a host, what is wrong with it, and the plan that must follow."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from host_builders import VERSIONS, edit, fresh, make_want, observation, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.compare.waive import waive
from gpuprov.model.change import Change, HostPlan
from gpuprov.model.waiver import Waiver
from gpuprov.plan.plan import plan_host
from gpuprov.want.empty import empty_want
from gpuprov.want.expectations import expectations
from gpuprov.want.host import host_want
from gpuprov.want.owned import owned_of
from gpuprov.want.types import HostWant

CASES = sorted(
    (next(p for p in Path(__file__).parents if p.name == "tests") / "cases" / "plan").glob("*.yaml"),
)


def want_of(options: dict[str, Any]) -> HostWant:
    if options.get("hand_back"):
        return host_want(empty_want("train", "onprem", "debian-12", "amd64"), "node-1")
    changed = {**VERSIONS, **options.get("versions", {})}
    versions = {name: version for name, version in changed.items() if version is not None}
    return make_want(
        versions,
        gpus=options.get("gpus", True),
        files=options.get("files"),
        driver=options.get("driver", "580.95.05"),
        settled=options.get("settled", False),
        kernel=options.get("kernel", ""),
    )


def plan_of(case: dict[str, Any]) -> HostPlan:
    want = want_of(case.get("want", {}))
    before = want_of(case.get("before", case.get("want", {})))
    host = fresh(before) if case.get("host") == "fresh" else satisfied(before, owned=case.get("host") != "by hand")
    host = edit(host, {address: observation(value) for address, value in case.get("edit", {}).items()})
    waivers = [Waiver(facet=facet, reason="tested", until="2027-01-01") for facet in case.get("waived", [])]
    findings = compare_want(expectations(want, owned_of(host)), host)
    return plan_host(waive(findings, waivers, today="2026-11-30"), want, host)


DIGEST = re.compile(r"\b[0-9a-f]{12}\b")


def line(change: Change) -> str:
    before, after = change.before or "-", change.after or "-"
    return f"{change.action} {change.subject} {before} -> {after} | {change.reason} | {change.cost}"


def matches(change: Change, expected: str) -> bool:
    """Whether a change is as the case says, where SHA stands for any short digest."""
    pattern = "SHA".join(re.escape(part) for part in expected.split("SHA")).replace("SHA", DIGEST.pattern)
    return re.fullmatch(pattern, line(change)) is not None


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_plan(path: Path) -> None:
    case = yaml.safe_load(path.read_text())
    plan = plan_of(case)
    expected = case["changes"]
    same = len(expected) == len(plan.changes) and all(map(matches, plan.changes, expected))
    assert same, "\n".join(line(change) for change in plan.changes)
    assert [finding.address for finding in plan.not_curable] == case.get("not_curable", [])
    assert [finding.address for finding in plan.unknown] == case.get("unknown", [])
    for path_of_diff, words in case.get("diffs", {}).items():
        diff = next(change.diff for change in plan.changes if change.subject == path_of_diff)
        assert [text for text in words if text not in diff] == []
    if "lines_removed" in case:  # of all diffs, without their heads
        lines = [text for change in plan.changes for text in change.diff.splitlines()[2:] if text.startswith("-")]
        assert len(lines) == case["lines_removed"], lines


def test_there_are_cases() -> None:
    assert len(CASES) > 15
