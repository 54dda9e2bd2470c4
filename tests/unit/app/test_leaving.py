"""Hosts that go: named, drained first, and back in service as new ones only once they are proven."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from app_world import World, make_world
from ground_builders import SPEC, cloud_lock

from gpuprov.app import cloud_ground, leaving
from gpuprov.cloud.types import InstanceState
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.status import ExitStatus

DRAINED = SPEC.replace(
    "hosts: [HOSTS]}", 'hosts: [HOSTS]}\n    rollout: {drain: {command: "DRAIN", back: "BACK", wait: 5s}}'
)
VOLUMES = ("scratch/train-b",)


class Link:
    """A host that keeps what was done on it in a file."""

    def __init__(self, host: str, path: Path) -> None:
        self._host, self._path = host, path

    def run(self, command: str, **_: Any) -> None:
        self._note(command.split(maxsplit=1)[0])

    def put(self, data: bytes, path: str, **_: Any) -> None:
        self._note(f"mark {data.decode().strip()} {path}")

    def close(self) -> None:
        """Nothing is open."""

    def _note(self, text: str) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{self._host} {text}\n")


@pytest.fixture
def drained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., World]:
    monkeypatch.setattr(leaving, "connect", lambda connection: Link(connection.host, tmp_path / "host.log"))

    def made(drain: str = "true") -> World:
        log = tmp_path / "drain.log"
        text = DRAINED.replace("DRAIN", f"echo drain $GPUPROV_HOST >> {log}; {drain}")
        return make_world(tmp_path, monkeypatch, text=text.replace("BACK", f"echo back $GPUPROV_HOST >> {log}"))

    return made


def log(world: World, name: str = "drain.log") -> list[str]:
    path = world.site.path.parent / name
    return path.read_text().splitlines() if path.exists() else []


def without_b(world: World) -> None:
    world.rewrite("train-a", text=world.site.text.replace("train-a, train-b", "train-a"))


def test_fewer_hosts_go_only_by_name_and_say_how(drained: Callable[..., World]) -> None:
    world = drained()
    world.up()
    without_b(world)
    with pytest.raises(GpuprovError) as caught:
        world.up()
    assert {d.code for d in caught.value.diagnostics} == {"GP-CLOUD-014"}
    assert all("--remove" in d.hint for d in caught.value.diagnostics)
    assert log(world) == []
    world.asked.clear()
    result = world.up(remove=("train-b", *VOLUMES))
    plan, _ = world.asked[0]
    assert plan.drains == {"train-b": "command, up to 5s"}
    assert log(world) == ["drain train-b"]
    assert "instance.train-b" not in world.stack.resources
    assert "volume.scratch/train-b" not in world.stack.resources
    assert result.status is ExitStatus.DONE


def two_pools(drained: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> World:
    """A world with a second pool, `web`, whose one host was made."""
    lock = cloud_lock()
    pools = {name: replace(lock.pools["train"], pool=name) for name in ("train", "web")}
    world = drained()
    monkeypatch.setattr(cloud_ground, "open_lock", lambda _site: (replace(lock, pools=pools), "lock"))
    begin, end = world.site.text.index("  train:\n"), world.site.text.index("storage:\n")
    web = world.site.text[begin:end].replace("train:", "web:").replace("train-a, train-b", "web-a")
    whole = world.site.text
    world.rewrite(text=whole[:end] + web + whole[end:])
    world.up()
    world.rewrite(text=whole)
    world.asked.clear()
    return world


GONE = ("web-a", "scratch/web-a")


def test_hosts_of_a_pool_that_left_go_by_name_and_are_drained_as_its_last_run_says(
    drained: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = two_pools(drained, monkeypatch)
    with pytest.raises(GpuprovError) as caught:
        world.up()
    assert {(d.code, d.address) for d in caught.value.diagnostics} == {
        ("GP-CLOUD-014", "instance.web-a"),
        ("GP-CLOUD-014", "volume.scratch/web-a"),
    }
    assert all("--remove" in d.hint for d in caught.value.diagnostics)
    assert log(world) == []
    result = world.up(remove=GONE)
    ((plan, told),) = world.asked
    assert plan.drains == {"web-a": "command, up to 5s"}
    assert "GP-CLOUD-089" not in [d.code for d in told]
    assert log(world) == ["drain web-a"]
    assert "instance.web-a" not in world.stack.resources
    assert result.status is ExitStatus.DONE


@pytest.mark.parametrize("running", [True, False])
def test_where_no_record_knows_the_pool_the_plan_says_that_its_hosts_are_not_drained(
    drained: Callable[..., World], monkeypatch: pytest.MonkeyPatch, *, running: bool
) -> None:
    world = two_pools(drained, monkeypatch)
    shutil.rmtree(world.site.state / "runs")
    if not running:
        world.account.states[world.stack.resources["instance.web-a"].id] = InstanceState.STOPPED
    with pytest.raises(GpuprovError) as caught:
        world.up()
    assert {d.code for d in caught.value.diagnostics} == {"GP-CLOUD-014"}
    result = world.up(remove=GONE)
    ((plan, told),) = world.asked
    assert plan.drains == {}
    assert [(d.address, d.severity) for d in told if d.code == "GP-CLOUD-089"] == (
        [("web-a", Severity.WARNING)] if running else []
    )
    assert log(world) == []
    assert "instance.web-a" not in world.stack.resources
    assert result.status is ExitStatus.DONE


@pytest.mark.parametrize("name", ["train-b", "scratch", "scratch/train-b"])
def test_what_the_spec_still_asks_for_is_not_removed(drained: Callable[..., World], name: str) -> None:
    world = drained()
    world.up()
    with pytest.raises(GpuprovError) as caught:
        world.up(remove=(name,))
    assert [(d.code, d.address) for d in caught.value.diagnostics] == [("GP-CLOUD-057", name)]


def test_an_unknown_name_is_not_removed(drained: Callable[..., World]) -> None:
    world = drained()
    with pytest.raises(GpuprovError) as caught:
        world.up(remove=("train-x",))
    assert [d.code for d in caught.value.diagnostics] == ["GP-CLOUD-026"]


def test_a_host_that_stays_busy_is_not_removed_and_gets_its_work_back(drained: Callable[..., World]) -> None:
    world = drained("false")
    world.up()
    without_b(world)
    world.stack.calls.clear()
    result = world.up(remove=("train-b", *VOLUMES))
    assert "apply" not in world.stack.calls
    assert "instance.train-b" in world.stack.resources
    assert world.codes(result) == ["GP-ROLL-007"]
    assert result.status is not ExitStatus.DONE
    assert log(world) == ["drain train-b", "back train-b"]


def test_with_disturb_it_goes_all_the_same_and_that_is_told(drained: Callable[..., World]) -> None:
    world = drained("false")
    world.up()
    without_b(world)
    result = world.up(remove=("train-b", *VOLUMES), disturb=True)
    assert "instance.train-b" not in world.stack.resources
    assert world.codes(result) == ["GP-ROLL-007"]
    assert result.status is ExitStatus.DONE


def test_where_one_stays_busy_the_others_get_their_work_back(drained: Callable[..., World]) -> None:
    world = drained("test $GPUPROV_HOST = train-a")
    world.up()
    world.up(replace=("train-a", "train-b"))
    assert sorted(log(world)) == ["back train-a", "back train-b", "drain train-a", "drain train-b"]


def test_hosts_that_a_failed_run_did_not_reach_get_their_work_back(drained: Callable[..., World]) -> None:
    world = drained()
    world.up()
    without_b(world)
    failure = Diagnostic(code="GP-CLOUD-008", address="instance.train-a", summary="no capacity")
    world.stack.fails["instance.train-a"] = failure
    result = world.up(replace=("train-a",), remove=("train-b", *VOLUMES))
    assert result.status is ExitStatus.FAILED
    assert "instance.train-b" in world.stack.resources
    assert sorted(log(world)) == ["back train-a", "back train-b", "drain train-a", "drain train-b"]


def test_hosts_of_a_run_that_did_not_begin_get_their_work_back(
    drained: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = drained()
    world.up()
    without_b(world)

    def held(*_: Any, **__: Any) -> None:
        raise GpuprovError(Diagnostic(code="GP-CLOUD-011", summary="another run holds the state"))

    monkeypatch.setattr(world.stack, "apply", held)
    with pytest.raises(GpuprovError) as caught:
        world.up(remove=("train-b", *VOLUMES))
    assert [d.code for d in caught.value.diagnostics] == ["GP-CLOUD-011"]
    assert log(world) == ["drain train-b", "back train-b"]


def test_a_replaced_host_is_drained_and_its_successor_marked(drained: Callable[..., World]) -> None:
    world = drained()
    world.up()
    before = world.stack.resources["instance.train-a"].id
    world.wanted.discard("train-a")
    world.up(replace=("train-a",))
    assert world.stack.resources["instance.train-a"].id != before
    assert log(world) == ["drain train-a"]
    marks = [line for line in log(world, "host.log") if " mark " in line]
    assert marks == ["train-a mark command /var/lib/gpuprov/drained"] * 2


@pytest.mark.parametrize("state", [InstanceState.STOPPED, InstanceState.TERMINATED, None])
def test_nothing_runs_on_an_instance_that_does_not_run(
    drained: Callable[..., World], state: InstanceState | None
) -> None:
    world = drained("false")
    world.up()
    world.account.states[world.stack.resources["instance.train-b"].id] = state
    without_b(world)
    assert world.up(remove=("train-b", *VOLUMES)).status is ExitStatus.DONE
    assert log(world) == []


def test_destroy_takes_the_work_off_all_hosts_before_any_goes(drained: Callable[..., World]) -> None:
    world = drained()
    world.up()
    world.asked.clear()
    result = world.destroy()
    ((plan, _),) = world.asked
    assert plan.drains == {"train-a": "command, up to 5s", "train-b": "command, up to 5s"}
    assert sorted(log(world)) == ["drain train-a", "drain train-b"]
    assert not any(address.startswith("instance.") for address in world.stack.resources)
    assert result.status is ExitStatus.DONE


def test_a_busy_host_keeps_destroy_from_all_and_the_error_names_the_way_on(drained: Callable[..., World]) -> None:
    world = drained("test $GPUPROV_HOST = train-a")
    world.up()
    before = dict(world.stack.resources)
    result = world.destroy("datasets")
    assert world.stack.resources == before
    assert world.account.emptied == []
    (error,) = (d for d in result.diagnostics if d.severity is Severity.ERROR)
    assert (error.code, error.address) == ("GP-ROLL-007", "train-b")
    assert "--disturb" in error.hint
    assert sorted(log(world)) == ["back train-a", "back train-b", "drain train-a", "drain train-b"]
    assert result.status is not ExitStatus.DONE


def test_with_disturb_destroy_goes_on(drained: Callable[..., World]) -> None:
    world = drained("false")
    world.up()
    result = world.up(release=True, disturb=True)
    assert not any(address.startswith("instance.") for address in world.stack.resources)
    assert {(d.code, d.severity) for d in result.diagnostics if d.code == "GP-ROLL-007"} == {
        ("GP-ROLL-007", Severity.WARNING)
    }
    assert result.status is ExitStatus.DONE


def test_hosts_that_a_failed_destroy_left_get_their_work_back(drained: Callable[..., World]) -> None:
    world = drained()
    world.up()
    world.stack.fail_at = "instance.train-a"
    result = world.destroy()
    there = {address.removeprefix("instance.") for address in world.stack.resources if address.startswith("instance.")}
    assert "train-a" in there
    assert {line for line in log(world) if line.startswith("back")} == {f"back {name}" for name in there}
    assert result.status is ExitStatus.FAILED


def test_destroy_of_what_stands_still_drains_nothing(drained: Callable[..., World]) -> None:
    world = drained("false")
    world.up()
    for name in ("train-a", "train-b"):
        world.account.states[world.stack.resources[f"instance.{name}"].id] = InstanceState.STOPPED
    assert world.destroy().status is ExitStatus.DONE
    assert log(world) == []
