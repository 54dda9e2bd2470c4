"""MIG where the catalog knows less than it should: a user's row may say nothing of it."""

from dataclasses import replace
from typing import Any

import pytest

from gpuprov.catalog.load import PACKAGED, Catalog
from gpuprov.rules.answer import Verdict
from gpuprov.rules.facts import PoolFacts
from gpuprov.rules.mig import mig_fits


@pytest.mark.parametrize(
    "lacks",
    [
        {"mig_instances": None, "unverified": ("mig_instances",)},
        {"mig_profiles": (), "unverified": ("mig_profiles",)},
        {"mig_min_driver": None, "unverified": ("mig_min_driver",)},
    ],
)
def test_what_is_not_known_of_mig_allows_no_layout(lacks: dict[str, Any]) -> None:
    table = PACKAGED.table("gpus")
    rows = tuple(replace(row, **lacks) if row.id == "A30" else row for row in table.rows)
    facts = PoolFacts(
        pool="p",
        gpu_models=("A30",),
        driver="580.95.05",
        branches=(580,),
        mig=("1g.6gb",),
        catalog=Catalog({"gpus": replace(table, rows=rows)}),
    )
    assert [answer.verdict for answer in mig_fits(facts, 580)] == [Verdict.UNKNOWN]
    assert list(mig_fits(replace(facts, catalog=PACKAGED), 580)) == []
