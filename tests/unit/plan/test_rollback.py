"""Which run a host goes back to, and whether there would be a way back."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from host_builders import edit, make_snapshot, make_want, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.model.change import HostPlan, Rollback
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.plan.plan import build_plan, plan_host
from gpuprov.plan.rollback import chosen_run, kept_runs, with_sight
from gpuprov.plan.text import read_plan, write_plan
from gpuprov.want.expectations import expectations
from gpuprov.want.owned import owned_of

FILE = Path(__file__).parents[2] / "cases" / "rollback" / "runs.yaml"
CASES = yaml.safe_load(FILE.read_text(encoding="utf-8"))
WANT = make_want()


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_run_that_a_rollback_means(case: dict[str, Any]) -> None:
    rows = [
        {"run": run, "number": number, "want": want, "done": done, "left": left}
        for number, (run, want, done, left) in enumerate(case["runs"])
    ]
    runs = kept_runs(make_snapshot({"gpuprov.runs": rows, "gpuprov.owned": {"want": case.get("complete", "")}}))
    assert isinstance(runs, tuple)
    found = chosen_run(runs, case.get("to"))
    assert (found.run if found is not None else None) == case["expect"]


def test_runs_that_nobody_could_see_are_unknown_and_not_none() -> None:
    assert kept_runs(make_snapshot({"gpuprov.runs": {"unknown": "needs root"}})) == Unknown("needs root")
    assert kept_runs(make_snapshot({"gpuprov.runs": None})) == ()


def plan(archives: Observation, **versions: str) -> HostPlan:
    """The plan of a host that has everything, but some packages at other versions."""
    changed: dict[str, Observation] = {
        f'package["{n.replace("_", "-")}"].version': Known(v) for n, v in versions.items()
    }
    host = edit(satisfied(WANT), {**changed, "gpuprov.archives": archives})
    return plan_host(compare_want(expectations(WANT, owned_of(host)), host), WANT, host)


def test_of_the_old_packages_those_that_are_kept_are_told_from_the_others() -> None:
    kept = Known({"packages": {"libcuda1": ["570.1-1", "560.1-1"], "docker.io": ["1"]}, "bytes": 812})
    found = plan(kept, libcuda1="570.1-1", docker_io="2").rollback
    assert plan(kept, libcuda1="570.1-1").rollback == Rollback(kept=("libcuda1 570.1-1",), size=812)
    assert found is not None
    two = edit(satisfied(WANT), {'package["docker.io"].version': Known("2"), "gpuprov.archives": kept})
    other = plan_host(compare_want(expectations(WANT, owned_of(two)), two), WANT, two)
    assert other.rollback == Rollback(unseen=("docker.io 2",), size=812)


@pytest.mark.parametrize("archives", [Absent(), Unknown("needs root")])
def test_what_is_not_seen_to_be_kept_is_not_called_kept(archives: Observation) -> None:
    assert plan(archives, libcuda1="570.1-1").rollback == Rollback(unseen=("libcuda1 570.1-1",))


def test_where_no_package_that_is_there_moves_there_is_nothing_to_go_back_to() -> None:
    assert plan(Absent()).rollback is None


def test_a_look_at_the_transaction_says_what_a_source_still_has() -> None:
    before = plan(Absent(), libcuda1="570.1-1")
    looked = {"kept": [], "fetch": ["libcuda1 570.1-1"], "lost": [], "bytes": 5}
    after = with_sight(before, looked)
    assert after.rollback == Rollback(fetched=("libcuda1 570.1-1",), size=5)
    assert after == replace(before, rollback=after.rollback)
    assert with_sight(before, {}) == before
    assert read_plan(write_plan(build_plan("l", {}, [after])), "p").hosts[0].rollback == after.rollback
