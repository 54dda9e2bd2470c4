"""From spec to package names: case by case, and the digest of what the catalog had a say in."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.lock.requests import catalog_inputs, pool_inputs, requests_for
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.decode import load
from gpuprov.spec.types import Spec

FOLDER = Path(__file__).parents[2] / "cases"
CASES = yaml.safe_load((FOLDER / "lock" / "requests.yaml").read_text())["cases"]
BASE = yaml.safe_load((FOLDER / "spec" / "refused.yaml").read_text())["base"]


def spec_of(change: dict[str, str]) -> Spec:
    text = BASE
    for old, new in change.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    spec, found = load(text, "gpuprov.yaml")
    assert found == ()
    assert spec is not None
    return spec


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_requests(case: dict[str, Any]) -> None:
    spec = spec_of(case["change"])
    if "refused" in case:
        with pytest.raises(GpuprovError) as caught:
            pool_inputs(spec)
        assert [[d.code, d.address] for d in caught.value.diagnostics] == case["refused"]
        return
    asked = requests_for(spec, spec.pools["train"])
    texts = {f"{r.name} {r.constraint} @{r.source}".replace("  ", " ") for r in asked}
    assert len(texts) == len(asked)
    if "asks" in case:
        assert texts == set(case["asks"])
    assert set(case.get("asks_some", ())) <= texts
    for pattern in case.get("without", ()):
        assert not [r.name for r in asked if re.fullmatch(pattern, r.name)]
    for name, address in case.get("addresses", {}).items():
        assert [r.address for r in asked if r.name == name] == [address]
    (pool,) = pool_inputs(spec)
    assert pool.requests == asked
    for label, names in case.get("equal", {}).items():
        assert sorted(next(e.names for e in pool.equal if e.label == label)) == names
    assert [e.label for e in pool.equal if e.driver] == (["driver"] if spec.stack.driver else [])


def test_the_problems_of_all_pools_are_told_together() -> None:
    spec = spec_of(
        {
            'driver: {version: "580.*", modules: open, source: nvidia}': 'dcgm: "4.*"',
            "  train:\n": "  other: {gpu: none}\n  train:\n",
        }
    )
    with pytest.raises(GpuprovError) as caught:
        pool_inputs(spec)
    assert len(caught.value.diagnostics) == 2


def test_catalog_inputs_follow_the_rows_that_were_used() -> None:
    base = catalog_inputs(spec_of({}))
    assert base == catalog_inputs(spec_of({'text: "x"': 'text: "y"', "per_host: 8": "per_host: 4"}))
    assert base != catalog_inputs(spec_of({"H100-SXM5-80GB": "L40S"}))
    assert base != catalog_inputs(spec_of({"modules: open": "modules: proprietary"}))
