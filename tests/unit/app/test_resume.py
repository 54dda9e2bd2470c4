"""`up --resume` and `up --plan`, through the whole use case: what they take over, and what they refuse."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from app_world import World

from gpuprov.app import up
from gpuprov.app.access import Access
from gpuprov.app.plan_file import load_plan, save_plan
from gpuprov.app.runs import past_runs
from gpuprov.model.change import Plan
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.past_run import RunEnd
from gpuprov.model.run import HostState
from gpuprov.store.site import runs_folder


def refused(world: World, **request: Any) -> list[str]:
    with pytest.raises(GpuprovError) as caught:
        world.up(**request)
    return [diagnostic.code for diagnostic in caught.value.diagnostics]


def kill(world: World, monkeypatch: pytest.MonkeyPatch, **request: Any) -> Path:
    """A run whose process is killed in its rollout: its journal has no end."""
    before = set(runs_folder(world.site.state).glob("*"))
    world.site.lock_path.write_text("lock")  # as the world's ground has it
    with monkeypatch.context() as patch:

        def die(_work: Any, *, journal: Any, **_: Any) -> None:
            journal.write("begin", "rollout", hosts=["train-a", "train-b"])
            journal.write("begin", "converge", hosts=["train-a"])
            raise SystemExit

        patch.setattr(up, "converge_hosts", die)
        with pytest.raises(SystemExit):
            world.up(**request)
    (folder,) = set(runs_folder(world.site.state).iterdir()) - before
    journal = folder / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    kept = [line for line in lines if (line["step"], line["event"]) != ("run", "end")]
    journal.write_text("".join(f"{json.dumps(line)}\n" for line in kept))
    return folder


def test_a_killed_run_is_gone_on_with_and_says_what_it_had_done(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = kill(world, monkeypatch, refresh=True)
    assert [run.end for run in past_runs(world.site.path)] == [RunEnd.KILLED]
    world.asked.clear()
    world.stack.refreshed.clear()
    result = world.up(resume=True)
    told = world.asked[0][1][0]
    assert (told.code, told.address) == ("GP-RUN-009", killed.name)
    assert "train-a: the run ended within the play\ntrain-b: not begun" in told.detail
    assert {host.state for host in result.hosts} == {HostState.CHANGED}
    assert set(world.stack.refreshed) == {True}, "it is asked for what that run was asked for"
    first, second = past_runs(world.site.path)
    assert (first.resumed_by, second.resumes, second.end) == (second.name, first.name, RunEnd.DONE)
    assert refused(world, resume=True) == ["GP-RUN-008"], "there is nothing left to go on with"


def test_where_nothing_ran_there_is_nothing_to_go_on_with(world: World) -> None:
    assert refused(world, resume=True) == ["GP-RUN-008"]
    world.up()
    world.destroy()
    with pytest.raises(GpuprovError, match="was `destroy`") as caught:
        world.up(resume=True)
    assert caught.value.diagnostics[0].hint.startswith("run `gpuprov destroy` again")


@pytest.mark.parametrize(
    ("file", "text"), [("spec.yaml", "name: other\n"), ("lock.json", "{}\n"), ("wants/train-a.json", "{}\n")]
)
def test_what_changed_since_is_refused_before_anything_is_asked(
    world: World, monkeypatch: pytest.MonkeyPatch, file: str, text: str
) -> None:
    world.up()
    world.wanted.clear()
    killed = kill(world, monkeypatch)
    (killed / file).write_text(text)
    world.asked.clear()
    assert refused(world, resume=True) == ["GP-RUN-010"]
    assert world.asked == []
    assert len(past_runs(world.site.path)) == 2


@pytest.mark.parametrize(
    "options",
    [{"target": "cloud"}, {"access": Access(limit="train-a")}, {"replace": ("train-a",)}, {"plan": Path("plan.json")}],
)
def test_resume_takes_nothing_that_asks_for_something_else(
    world: World, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], tmp_path: Path
) -> None:
    kill(world, monkeypatch)
    if "plan" in options:
        options = {"plan": tmp_path / "plan.json"}
        save_plan(world.asked[0][0], tmp_path / "plan.json")
    assert refused(world, resume=True, **options) == ["GP-RUN-004"]


def test_the_plan_of_a_run_is_kept_and_a_kept_plan_is_made(world: World, tmp_path: Path) -> None:
    world.answer = False
    world.up()
    plan: Plan = world.asked[0][0]
    assert plan.resources is not None
    assert plan.resources.cost is not None
    save_plan(plan, tmp_path / "plan.json")
    assert (tmp_path / "plan.json").stat().st_mode & 0o777 == 0o600
    promised = replace(plan, resources=replace(plan.resources, cost=None))  # prices are no promise
    assert load_plan(tmp_path / "plan.json") == promised
    world.answer = True
    result = world.up(plan=tmp_path / "plan.json")
    assert Path(result.run, "plan.json").read_text() == (tmp_path / "plan.json").read_text()
    world.asked.clear()
    # Its resources are made by now: the same plan is not true a second time.
    assert "GP-PLAN-004" in refused(world, plan=tmp_path / "plan.json")
    assert world.asked == []


def test_a_plan_that_somebody_edited_is_refused_before_anything_is_looked_at(world: World, tmp_path: Path) -> None:
    world.answer = False
    world.up()
    path = tmp_path / "plan.json"
    save_plan(world.asked[0][0], path)
    path.write_text(path.read_text().replace("instance.train-a", "instance.train-z"))
    world.stack.calls.clear()
    assert refused(world, plan=path) == ["GP-DOC-006"]
    assert world.stack.calls == []
