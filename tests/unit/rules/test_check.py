"""The rules, case by case; each rule has a case that it refuses and one that it lets pass."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.catalog.load import rows
from gpuprov.catalog.rows import ArchitectureRow, BranchRow, GpuRow
from gpuprov.rules.answer import Verdict
from gpuprov.rules.check import check_pool
from gpuprov.rules.facts import PoolFacts
from tests.builders.rule_facts import facts_of

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "rules" / "pool.yaml").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_check_pool(case: dict[str, Any]) -> None:
    found = check_pool(facts_of(case["facts"]), case.get("today", "2026-11-30"))
    assert [[a.rule, a.verdict.value] for a in found] == case["found"]
    for word in case.get("words", []):
        assert any(word in f"{a.summary} {a.satisfies}" for a in found), word
    for answer in found:
        if answer.verdict is Verdict.REFUSED:
            assert answer.satisfies, "a refusal says what would satisfy"
        if answer.verdict in {Verdict.REFUSED, Verdict.WARNING}:
            assert len(answer.facts) >= 2 or answer.rule == "GP-RULE-007", "both facts are told"
            assert all(said.source or said.at for said in answer.facts), "each fact says where it comes from"


@pytest.mark.parametrize("row", rows(GpuRow), ids=lambda row: row.id)
def test_no_gpu_takes_a_branch_that_has_left_its_architecture(row: GpuRow) -> None:
    arch = next(a for a in rows(ArchitectureRow) if a.id == row.architecture)
    for branch in rows(BranchRow):
        facts = PoolFacts(
            pool="p",
            gpu_models=(row.id,),
            branches=(branch.number,),
            modules=branch.flavours[0] if branch.flavours else "open",
        )
        answers = check_pool(facts, "2026-11-30")
        refused = any(a.rule == "GP-RULE-002" and a.verdict is Verdict.REFUSED for a in answers)
        if arch.max_branch is not None and branch.number > arch.max_branch:
            assert refused, branch.id
