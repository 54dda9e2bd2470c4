"""The rules, case by case; each rule has a case that it refuses and one that it lets pass."""

import itertools
from pathlib import Path
from typing import Any

import pytest
import yaml
from rule_facts import facts_of

from gpuprov.catalog.load import rows
from gpuprov.catalog.rows import ArchitectureRow, BranchRow, GpuRow, ToolkitRow
from gpuprov.rules.answer import Verdict
from gpuprov.rules.check import check_pool
from gpuprov.rules.facts import FrameworkFacts, PoolFacts

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


def test_every_rule_has_a_case_that_it_refuses_or_warns_of_and_one_that_it_lets_pass() -> None:
    told = {(rule, verdict) for case in CASES for rule, verdict in case["found"]}
    for number in range(1, 17):
        code = f"GP-RULE-{number:03}"
        if code == "GP-RULE-008":
            continue  # instance types: instance.yaml
        assert {(code, "refused"), (code, "warning")} & told, code
    assert sum(not case["found"] for case in CASES) > 20


@pytest.mark.parametrize("system", ["ubuntu-22.04", "ubuntu-24.04"])
def test_the_commonest_stacks_never_end_in_unknown(system: str) -> None:
    """Every pair of these GPUs, branches and CUDA releases is decided: by the issue, they are what most people run."""
    models = [row.id for row in rows(GpuRow) if row.id.startswith(("H100", "H200", "B200", "L40S", "A100", "T4"))]
    releases = sorted({row.release for row in rows(ToolkitRow) if row.release[:3] in {"12.", "13."}})
    assert len(models) >= 10
    assert len(releases) >= 14
    decided = 0
    for model, number, cuda in itertools.product(models, (570, 580, 590, 595), releases):
        facts = PoolFacts(
            pool="p",
            os=system,
            arch="amd64",
            gpu_models=(model,),
            branches=(number,),
            modules="open",
            cuda=cuda,
            dcgm="4.6.1",
            engine="docker",
            toolkit="1.20.0",
            frameworks=(FrameworkFacts(name="torch", version="2.9.1"), FrameworkFacts(name="torch", version="2.14.1")),
        )
        answers = check_pool(facts, "2026-11-30")
        assert [a.summary for a in answers if a.verdict is Verdict.UNKNOWN] == [], (model, number, cuda)
        refused = {a.rule for a in answers if a.verdict is Verdict.REFUSED}
        assert ("GP-RULE-001" in refused) == (cuda >= "13" and number < 580), (model, number, cuda)
        assert ("GP-RULE-006" in refused) == (model == "B200")
        assert not {"GP-RULE-002", "GP-RULE-003", "GP-RULE-016"} & refused, (model, number, cuda)
        decided += 1
    assert decided == len(models) * 4 * len(releases)
