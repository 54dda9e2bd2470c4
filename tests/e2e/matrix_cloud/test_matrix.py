"""Fault x resource type: after the fault and one recovery and run, the account holds what the state knows, once."""

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.model.progress import ignore_progress
from tests.e2e.matrix_cloud.struck import note
from tests.e2e.matrix_cloud.trial import Trial

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "matrix_cloud" / "cases.yaml").read_text())
FAULTS = {fault["id"]: fault for fault in CASES["faults"]}
ALL = [(verb, fault, place) for verb in ("make", "remove") for fault in CASES["faults"] for place in CASES[verb]]
# Of removals: what must be there after them needs no other trial.
QUICK = [
    (verb, FAULTS[name], next(place for place in CASES[verb] if place["type"] == kind))
    for verb, name, kind in CASES["quick"]
]

pytestmark = [
    pytest.mark.timeout(900),
    # An engine that fails or is killed leaves the SDK's own event loop unclosed (SDK 3.272, 2026-11-30).
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    # The fault `cut` ends a thread of the server like this.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]


def name(case: tuple[str, dict[str, Any], dict[str, Any]]) -> str:
    verb, fault, place = case
    return f"{verb} {place['type']}: {fault['id']}"


def strike(case: tuple[str, dict[str, Any], dict[str, Any]], trial: Trial, expected: Counter[str]) -> None:
    verb, fault, place = case
    wanted = trial.asked
    if verb == "remove":
        assert trial.stack().apply(trial.asked, report=ignore_progress).diagnostics == ()
        wanted, expected = trial.nothing, Counter()
    began = time.monotonic()
    told = []
    for one in fault.get("one_after_another", [fault]):
        told += (now := trial.struck(one, place["action"], wanted))
        assert set(now) & set(one["codes"]), now
    assert trial.go_on(wanted) == ()
    found = trial.outcome(expected, told)
    note(name(case), found.told, found.orphans, found.missing, began)
    assert (found.orphans, found.missing) == ([], [])
    assert trial.stack().preview(wanted, report=ignore_progress).empty


@pytest.mark.matrix
@pytest.mark.parametrize("case", ALL, ids=name)
def test_matrix(case: tuple[str, dict[str, Any], dict[str, Any]], whole: Counter[str], trial: Trial) -> None:
    strike(case, trial, whole)


@pytest.mark.slow
@pytest.mark.parametrize("case", QUICK, ids=name)
def test_one_of_each(case: tuple[str, dict[str, Any], dict[str, Any]], trial: Trial) -> None:
    strike(case, trial, Counter())
