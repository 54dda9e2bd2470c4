"""The rules, case by case; each rule has a case that it refuses and one that it lets pass."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.catalog.load import rows
from gpuprov.catalog.rows import ArchitectureRow, BranchRow, GpuRow
from gpuprov.model.diagnostic import Severity
from gpuprov.model.version import driver_branch
from gpuprov.rules.check import check_pool
from gpuprov.rules.facts import PoolFacts

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "rules" / "pool.yaml").read_text())["cases"]


def facts_of(given: dict[str, Any]) -> PoolFacts:
    driver = given.get("driver", "")
    branches = tuple(given.pop("branches", ())) or ((driver_branch(driver),) if driver else ())
    return PoolFacts(pool="train", branches=branches, **given)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_check_pool(case: dict[str, Any]) -> None:
    found = check_pool(facts_of(dict(case["facts"])), case.get("today", "2026-11-30"))
    assert [[d.code, d.severity.value] for d in found] == case["found"]
    for word in case.get("words", []):
        assert word in f"{found[0].summary} {found[0].hint}"
    assert all(d.source for d in found if d.code != "GP-RULE-900"), "a rule says where it comes from"


@pytest.mark.parametrize("row", rows(GpuRow), ids=lambda row: row.id)
def test_no_gpu_takes_a_branch_that_has_left_its_architecture(row: GpuRow) -> None:
    arch = next(a for a in rows(ArchitectureRow) if a.id == row.architecture)
    for branch in rows(BranchRow):
        facts = PoolFacts(
            pool="p",
            gpu_model=row.id,
            branches=(branch.number,),
            modules=branch.flavours[0] if branch.flavours else "open",
        )
        refused = any(d.code == "GP-RULE-002" and d.severity is Severity.ERROR for d in check_pool(facts, "2026-11-30"))
        if arch.max_branch is not None and branch.number > arch.max_branch:
            assert refused, branch.id
