"""The rules over specs and locks: codes, severities and the lines they are told at."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rule_locks import lock_of

from gpuprov.lock.compatibility import check_lock, check_spec
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.decode import load

FOLDER = Path(__file__).parents[2] / "cases"
CASES = yaml.safe_load((FOLDER / "lock" / "compatibility.yaml").read_text())["cases"]
BASE = yaml.safe_load((FOLDER / "spec" / "refused.yaml").read_text())["base"]
CLOUD = yaml.safe_load((FOLDER / "spec" / "cloud.yaml").read_text())["base"]
TODAY = "2026-11-30"


def told(found: Iterable[Diagnostic]) -> list[list[Any]]:
    return [[d.code, d.severity.value, d.address, d.span.line if d.span else None] for d in found]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_compatibility(case: dict[str, Any]) -> None:
    text = CLOUD if case.get("base") == "cloud" else BASE
    for old, new in case["change"].items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    spec, wrong = load(text, "gpuprov.yaml")
    assert wrong == ()
    assert spec is not None
    assert told(check_spec(spec, today=TODAY)) == case["found"]
    if "lock" in case:
        assert told(check_lock(lock_of(case["lock"]), spec, today=TODAY)) == case["locked"]


CONSTRAINTS = st.lists(
    st.sampled_from(["5", "8", "580", "4.7.0", ".", ".*", "*", ">=", "<", "=", ",", " ", "-1", "1:", "~", "+x", "a"]),
    max_size=5,
).map("".join)


@settings(deadline=None)
@given(driver=CONSTRAINTS, dcgm=CONSTRAINTS)
@example(driver="5 ", dcgm="= 4.7.0 ")
@example(driver=">=580,=580.8", dcgm="4.*")
def test_no_constraint_that_loads_makes_the_rules_raise(driver: str, dcgm: str) -> None:
    text = BASE.replace('"580.*"', f'"{driver}"').replace('cuda: "13.0"', f'cuda: "13.0"\n  dcgm: "{dcgm}"')
    spec, wrong = load(text, "gpuprov.yaml")
    if spec is None:
        assert wrong
        return
    assert all(d.summary for d in check_spec(spec, today=TODAY))
