"""One way for every ground: look, ask once, make, roll out; and what stops it."""

import json
from dataclasses import replace

import pytest
from app_world import World
from ground_builders import BASE, cloud_lock

from gpuprov.app import cloud_ground
from gpuprov.app.access import Access
from gpuprov.cloud.state import INSTANCE, Pending
from gpuprov.cloud.types import InstanceState
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import ignore_progress
from gpuprov.model.resource import ResourceAction
from gpuprov.model.run import HostState
from gpuprov.model.status import ExitStatus
from gpuprov.store.journal import list_runs, read_run


def test_one_question_covers_resources_and_hosts_and_new_hosts_are_shown_by_their_want(world: World) -> None:
    world.up()
    world.stack.resources.pop("instance.train-b")
    world.wanted.clear()
    world.asked.clear()
    result = world.up()
    assert len(world.asked) == 1
    plan, _ = world.asked[0]
    assert [c.address for c in plan.resources.changes] == ["instance.train-b"]
    assert [host.host for host in plan.hosts] == ["train-a"]
    (new,) = plan.resources.new_hosts
    assert (new.name, new.pool, new.instance, new.image) == (
        "train-b", "train", "p5.48xlarge", f"{BASE} (debian-12-amd64)",
    )  # fmt: skip
    assert "nvidia-driver-cuda 580.95.05-1" in new.packages
    assert "/etc/modprobe.d/gpuprov-nouveau.conf" in new.files
    assert world.converged[-1] == ["train-a", "train-b"]
    assert result.status is ExitStatus.DONE


def test_the_journal_holds_what_was_planned_and_made(world: World) -> None:
    result = world.up()
    (run,) = list_runs(world.site.state)
    entries = [e for e in read_run(world.site.state, run).entries if e.step == "resources"]
    assert [e.event for e in entries] == ["begin", "end"]
    assert entries[0].fields["planned"]["instance.train-a"] == "create"
    assert entries[1].fields["changed"]["bucket.datasets"] == "create"
    assert json.loads((world.site.state / "runs" / run / "wants" / "train-a.json").read_text())["host"] == "train-a"
    assert result.run.endswith(run)


def test_a_second_run_asks_nothing_and_changes_nothing(world: World) -> None:
    world.up()
    world.asked.clear()
    world.stack.calls.clear()
    result = world.up()
    assert world.asked == []
    assert world.stack.calls == ["preview"]
    assert world.proven == [["train-a", "train-b"]]
    assert result.run == ""
    assert result.resources is not None
    assert (result.resources.changed, result.resources.unchanged) == ((), 6)


def test_who_declines_changes_nothing(world: World) -> None:
    world.answer = False
    result = world.up()
    assert "apply" not in world.stack.calls
    assert world.codes(result) == ["GP-RUN-005"]
    assert result.status is ExitStatus.DONE
    assert list_runs(world.site.state) == ()


def test_what_the_spec_lost_is_not_deleted_unless_it_is_named(world: World) -> None:
    world.up()
    world.rewrite("train-a")
    with pytest.raises(GpuprovError) as caught:
        world.up()
    told = {d.address for d in caught.value.diagnostics}
    assert {d.code for d in caught.value.diagnostics} == {"GP-CLOUD-014"}
    assert told == {"instance.train-b", "volume.scratch/train-b"}
    assert "instance.train-b" in world.stack.resources
    assert len(world.asked) == 1
    world.up(replace=("train-b", "scratch/train-b"))
    assert "instance.train-b" not in world.stack.resources


def test_a_failed_resource_stops_before_any_host_is_changed(world: World) -> None:
    world.up()
    world.wanted.clear()
    world.stack.resources.pop("instance.train-b")
    world.converged.clear()
    world.stack.fail_at = "instance.train-b"
    result = world.up()
    assert world.converged == []
    assert [(h.host, h.state) for h in result.hosts] == [("train-a", HostState.NOT_STARTED)]
    assert result.status is ExitStatus.FAILED
    assert "GP-CLOUD-008" in world.codes(result)


def test_what_was_made_before_a_failure_is_told_and_recorded(world: World) -> None:
    world.stack.fail_at = "instance.train-b"
    result = world.up()
    assert result.resources is not None
    assert "instance.train-a" in [change.address for change in result.resources.changed]
    assert "instance.train-a" in world.stack.state().resources
    assert result.hosts == ()


def test_a_host_that_does_not_come_up_is_left_out_and_the_others_go_on(world: World) -> None:
    world.silent["train-b"] = Diagnostic(code="GP-CLOUD-016", address="train-b", summary="not ready", hint="look")
    result = world.up()
    assert world.converged == [["train-a"]]
    assert world.codes(result) == ["GP-CLOUD-016"]
    assert result.plan.excluded == {"train-b": "not ready"}
    assert result.status is ExitStatus.FAILED


def test_what_was_made_is_told_also_when_aws_fails_after_it(world: World) -> None:
    world.away = GpuprovError(Diagnostic(code="GP-CLOUD-025", summary="AWS cannot be reached"))
    result = world.up()
    assert world.codes(result) == ["GP-CLOUD-025"]
    assert result.resources is not None
    assert "instance.train-a" in [change.address for change in result.resources.changed]
    assert world.converged == []


@pytest.mark.parametrize("state", [InstanceState.STOPPED, InstanceState.TERMINATED, None])
def test_an_instance_that_does_not_run_is_left_out_with_its_way_out(world: World, state: InstanceState | None) -> None:
    world.up()
    world.wanted.clear()
    identity = world.stack.resources["instance.train-b"].id
    world.account.states[identity] = state
    result = world.up()
    assert world.converged[-1] == ["train-a"]
    (told,) = [d for d in result.diagnostics if d.code == "GP-CLOUD-016"]
    assert identity in told.summary
    assert "--replace train-b" in told.hint
    assert ("gpuprov start train-b" in told.hint) is (state is InstanceState.STOPPED)


def test_a_named_host_is_replaced_and_set_up_anew(world: World) -> None:
    world.up()
    world.asked.clear()
    before = world.stack.resources["instance.train-a"].id
    world.wanted.discard("train-a")
    result = world.up(replace=("train-a",))
    plan, _ = world.asked[0]
    assert [(c.address, c.action) for c in plan.resources.changes] == [("instance.train-a", ResourceAction.REPLACE)]
    assert [host.name for host in plan.resources.new_hosts] == ["train-a"]
    assert world.stack.resources["instance.train-a"].id != before
    assert world.converged[-1] == ["train-a"]
    assert result.status is ExitStatus.DONE


def test_an_unknown_name_is_refused_before_anything_is_asked_of_the_engine(world: World) -> None:
    with pytest.raises(GpuprovError) as caught:
        world.up(replace=("dataset",))
    (told,) = caught.value.diagnostics
    assert (told.code, told.hint) == ("GP-CLOUD-026", "did you mean `datasets`?")
    assert world.stack.calls == []


def test_what_an_interrupted_run_left_is_settled_first_and_told(world: World) -> None:
    world.up()
    world.stack.pending = (Pending(address="instance.train-b", urn="u", type=INSTANCE, operation="creating"),)
    result = world.up()
    assert world.account.asked == [f"{INSTANCE} site/instance/train-b"]
    assert ("GP-CLOUD-023", "instance.train-b") in [(d.code, d.address) for d in result.diagnostics]
    assert result.status is ExitStatus.DONE


def test_a_lock_without_an_image_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloud_ground, "open_lock", lambda _site: (replace(cloud_lock(), images=()), "lock"))
    with pytest.raises(GpuprovError) as caught:
        world.up()
    assert [d.code for d in caught.value.diagnostics] == ["GP-LOCK-004"]


@pytest.mark.parametrize("refresh", [True, False])
def test_resources_are_read_anew_where_that_was_asked_for(world: World, *, refresh: bool) -> None:
    world.up(refresh=refresh)
    assert world.stack.refreshed == [refresh, refresh]


@pytest.mark.parametrize("bare", [True, False])
def test_a_host_that_the_run_itself_made_reachable_is_looked_at_and_changed_only_by_a_plan_that_was_shown(
    world: World, *, bare: bool
) -> None:
    world.up()
    world.stack.calls.clear()
    world.converged.clear()
    world.unreachable = {"train-b"}
    del world.stack.resources["vpc.main"]
    if bare:
        world.wanted.discard("train-b")
    result = world.up()
    assert world.converged == [[]]
    if bare:
        assert world.codes(result) == ["GP-PLAN-001"]
        assert result.status is ExitStatus.REFUSED
        assert [host.host for host in result.hosts] == ["train-a"]
    else:
        assert result.status is ExitStatus.DONE
        assert [(h.host, h.state) for h in result.hosts] == [
            ("train-a", HostState.SATISFIED), ("train-b", HostState.SATISFIED),
        ]  # fmt: skip


def test_a_limit_leaves_hosts_outside_of_it_alone_also_when_they_are_stopped(world: World) -> None:
    world.up()
    (stopped,) = (h.instance_id for h in world.stack.state().made.hosts if h.name == "train-b")
    world.account.states[stopped] = InstanceState.STOPPED
    result = world.up(access=Access(limit="train-a"))
    assert [h.host for h in result.hosts] == ["train-a"]
    assert "GP-CLOUD-016" not in world.codes(result)
    assert result.status is ExitStatus.DONE


def test_a_host_that_somebody_switched_off_is_left_alone_and_fails_nothing(world: World) -> None:
    world.up()
    identity = world.stack.resources["instance.train-b"].id
    world.account.switch([identity], on=False, seconds=1, report=ignore_progress)
    world.stack.calls.clear()
    world.converged.clear()
    result = world.up()
    (told,) = [d for d in result.diagnostics if d.address == "train-b"]
    assert (told.code, told.severity) == ("GP-CLOUD-088", Severity.NOTE)
    assert "gpuprov start train-b" in told.hint
    assert "stopped" in result.plan.excluded["train-b"]
    assert [host.host for host in result.hosts] == ["train-a"]
    assert result.status is ExitStatus.DONE
    assert ("apply" not in world.stack.calls, world.converged) == (True, [])
