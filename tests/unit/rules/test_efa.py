"""Elastic Fabric Adapters, case by case; every layout of the catalog passes without public addresses."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.catalog.efa import interfaces
from gpuprov.catalog.find import instance
from gpuprov.catalog.load import rows
from gpuprov.catalog.rows_cloud import EfaLayoutRow
from gpuprov.rules.efa import check_efa
from gpuprov.rules.facts import InstanceFacts

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "rules" / "efa.yaml").read_text())["cases"]
VERIFIED = [row for row in rows(EfaLayoutRow) if row.knows("interfaces")]


def facts_of(case: dict[str, Any]) -> InstanceFacts:
    return InstanceFacts(
        type=case["type"],
        arch="amd64",
        address="pools.train.cloud.instance",
        pool="train",
        gpu_model=case.get("gpu", ""),
        gpu_count=case.get("count", 0),
        efa=case.get("efa", "ip"),
        close=case.get("close", True),
        public=case.get("public", False),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_check_efa(case: dict[str, Any]) -> None:
    row = instance(case["type"])
    assert row is not None
    found = check_efa(facts_of(case), row)
    assert [a.code for a in found] == case["found"]
    if "verdict" in case:
        assert [a.verdict.value for a in found] == [case["verdict"]]
    assert all(a.address == "pools.train.cloud.efa" for a in found)
    for word in case.get("words", []):
        assert any(word in f"{a.summary} {a.consequence} {a.satisfies}" for a in found), word


@pytest.mark.parametrize("row", VERIFIED, ids=lambda row: row.id)
def test_a_layout_of_the_catalog_is_taken(row: EfaLayoutRow) -> None:
    of = instance(row.instance)
    assert of is not None
    assert check_efa(facts_of({"type": row.instance, "efa": row.layout}), of) == ()
    found = interfaces(row.instance, row.layout)
    assert (found[0].card, found[0].device) == (0, 0)
    assert found[0].kind != "efa-only"
    assert sum(each.kind != "ena" for each in found) == of.efa_interfaces
