"""Hosts that are switched off and on."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from app_world import World, make_world
from ground_builders import SPEC

from gpuprov.app import leaving, power
from gpuprov.app.access import Access
from gpuprov.app.power import Power
from gpuprov.cloud.types import InstanceState, Made
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.power import PowerHost
from gpuprov.model.progress import ignore_progress
from gpuprov.model.status import ExitStatus


class Link:
    """A host on which everything succeeds."""

    def run(self, *_: Any, **__: Any) -> None: ...

    def put(self, *_: Any, **__: Any) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., World]:
    def made(*, drain: str = "", market: str = "on-demand") -> World:
        rollout = f'\n    rollout: {{drain: {{command: "{drain}", back: "true", wait: 5s}}}}' if drain else ""
        text = SPEC.replace("hosts: [HOSTS]}", f"hosts: [HOSTS], market: {market}}}{rollout}")
        world = make_world(tmp_path, monkeypatch, text=text)
        monkeypatch.setattr(power, "open_cloud", lambda _site: world.place)
        monkeypatch.setattr(power, "wait_for_hosts", wait)
        world.up()
        return world

    def wait(_account: Any, made: Made, **_: Any) -> tuple[Diagnostic, ...]:
        waited.extend(host.name for host in made.hosts)
        return tuple(silent)

    waited: list[str] = []
    silent: list[Diagnostic] = []
    monkeypatch.setattr(leaving, "connect", lambda _connection: Link())
    made.waited, made.silent = waited, silent  # type: ignore[attr-defined]
    return made


def stop(world: World, *names: str, answer: bool = True, disturb: bool = False) -> tuple[Power, list[PowerHost]]:
    asked: list[PowerHost] = []

    def agree(hosts: Sequence[PowerHost]) -> bool:
        asked.extend(hosts)
        return answer

    done = power.stop(world.site.path, names, Access(), disturb=disturb, agree=agree, report=ignore_progress)
    return done, asked


def states(done: Power) -> dict[str, str]:
    return {host.name: host.state for host in done.hosts}


def test_a_host_is_stopped_after_one_question_that_says_what_goes(build: Callable[..., World]) -> None:
    world = build(drain="true")
    done, asked = stop(world, "train-b")
    assert [(host.name, host.drained, host.loses) for host in asked] == [("train-b", "command, up to 5s", True)]
    assert states(done) == {"train-b": "stopped"}
    assert world.account.switched == [("off", [world.stack.resources["instance.train-b"].id])]
    assert done.status is ExitStatus.DONE


def test_a_pool_names_all_its_hosts_and_those_that_are_off_are_left_alone(build: Callable[..., World]) -> None:
    world = build()
    stop(world, "train-a")
    done, asked = stop(world, "train")
    assert [host.name for host in asked] == ["train-b"]
    assert states(done) == {"train-a": "stopped", "train-b": "stopped"}
    world.account.switched.clear()
    done, asked = stop(world, "train")
    assert (asked, world.account.switched, done.status) == ([], [], ExitStatus.DONE)


def test_who_declines_stops_nothing(build: Callable[..., World]) -> None:
    world = build()
    done, _ = stop(world, "train", answer=False)
    assert (states(done), world.account.switched) == ({"train-a": "running", "train-b": "running"}, [])


def test_a_busy_host_is_not_stopped_unless_it_may_be_disturbed(build: Callable[..., World]) -> None:
    world = build(drain="false")
    done, _ = stop(world, "train")
    assert world.account.switched == []
    assert {d.code for d in done.diagnostics} == {"GP-ROLL-007"}
    assert done.status is not ExitStatus.DONE
    done, _ = stop(world, "train", disturb=True)
    assert states(done) == {"train-a": "stopped", "train-b": "stopped"}
    assert done.status is ExitStatus.DONE


def test_a_spot_host_cannot_be_stopped(build: Callable[..., World]) -> None:
    world = build(market="spot")
    with pytest.raises(GpuprovError) as caught:
        stop(world, "train-a")
    assert [(d.code, d.address) for d in caught.value.diagnostics] == [("GP-CLOUD-058", "train-a")]
    assert world.account.switched == []


def test_an_unknown_name_is_refused(build: Callable[..., World]) -> None:
    with pytest.raises(GpuprovError) as caught:
        stop(build(), "train-x")
    assert [d.code for d in caught.value.diagnostics] == ["GP-CLOUD-026"]


@pytest.mark.parametrize("state", [InstanceState.TERMINATED, None])
def test_an_instance_that_is_gone_is_told(build: Callable[..., World], state: InstanceState | None) -> None:
    world = build()
    world.account.states[world.stack.resources["instance.train-a"].id] = state
    with pytest.raises(GpuprovError) as caught:
        stop(world, "train")
    assert [(d.code, d.address) for d in caught.value.diagnostics] == [("GP-CLOUD-016", "train-a")]
    assert world.account.switched == []


def test_start_waits_for_the_hosts_and_starts_only_those_that_are_off(build: Any) -> None:
    world = build()
    stop(world, "train-a")
    world.account.switched.clear()
    done = power.start(world.site.path, ["train"], report=ignore_progress)
    assert world.account.switched == [("on", [world.stack.resources["instance.train-a"].id])]
    assert build.waited == ["train-a", "train-b"]
    assert states(done) == {"train-a": "running", "train-b": "running"}
    assert done.status is ExitStatus.DONE


def test_a_host_that_does_not_answer_after_its_start_fails_the_command(build: Any) -> None:
    world = build()
    build.silent.append(Diagnostic(code="GP-CLOUD-016", address="train-a", summary="not ready"))
    done = power.start(world.site.path, ["train-a"], report=ignore_progress)
    assert [d.code for d in done.diagnostics] == ["GP-CLOUD-016"]
    assert done.status is ExitStatus.FAILED
