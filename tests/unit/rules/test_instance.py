"""Instance types against the GPUs of a pool, case by case; every GPU type fits the pool that it is sold as."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.catalog.load import rows
from gpuprov.catalog.rows import InstanceRow
from gpuprov.rules.answer import Verdict
from gpuprov.rules.facts import InstanceFacts
from gpuprov.rules.instance import check_instance

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "rules" / "instance.yaml").read_text())["cases"]
AT = "pools.train.cloud.instance"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_check_instance(case: dict[str, Any]) -> None:
    facts = InstanceFacts(
        type=case["type"],
        arch="amd64",
        address=AT,
        pool=case.get("pool", "train"),
        gpu_model=case.get("gpu", ""),
        gpu_count=case.get("count", 0),
        region=case.get("region", ""),
        market=case.get("market", "on-demand"),
    )
    found = check_instance(facts)
    assert [a.code for a in found] == case["found"]
    if "verdict" in case:
        assert [a.verdict.value for a in found] == [case["verdict"]]
    assert all(a.address == AT for a in found)
    for word in case.get("words", []):
        assert any(word in f"{a.summary} {a.consequence} {a.satisfies}" for a in found), word


@pytest.mark.parametrize("row", [r for r in rows(InstanceRow) if r.gpu and r.gpus], ids=lambda row: row.id)
def test_a_type_fits_a_pool_of_its_own_gpus_and_no_other(row: InstanceRow) -> None:
    facts = InstanceFacts(
        type=row.id, arch=row.arch, address=AT, pool="p", gpu_model=row.gpu or "", gpu_count=row.gpus or 0
    )
    facts = replace(facts, market="capacity-block" if row.capacity_block_only else "on-demand")
    assert check_instance(facts) == ()
    for other in ({"gpu_count": (row.gpus or 0) + 1}, {"gpu_model": "RTX-4090"}, {"gpu_model": "", "gpu_count": 0}):
        values: dict[str, Any] = {"gpu_model": row.gpu, "gpu_count": row.gpus} | other
        found = check_instance(replace(facts, **values))
        assert [a.code for a in found] == ["GP-RULE-008"]
        assert all(said.source or said.at for said in found[0].facts)


def test_a_type_of_capacity_blocks_alone_is_refused_on_demand() -> None:
    (row,) = (r for r in rows(InstanceRow) if r.id == "p6e-gb200.36xlarge")
    facts = InstanceFacts(
        type=row.id, arch=row.arch, address=AT, pool="p", gpu_model=row.gpu or "", gpu_count=row.gpus or 0
    )
    (found,) = check_instance(replace(facts, market="on-demand"))
    assert (found.rule, found.verdict) == ("GP-RULE-008", Verdict.REFUSED)
    assert "capacity blocks" in found.summary
