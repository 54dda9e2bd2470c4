"""`recover`: by pending operations, and by tags where a cut connection left none."""

from pathlib import Path

import pytest
from app_world import World, make_world

from gpuprov.app import recover as module
from gpuprov.app.recover import Recovery, recover
from gpuprov.cloud.orphans import Tagged
from gpuprov.cloud.state import INSTANCE, VOLUME, Pending
from gpuprov.model.progress import ignore_progress
from gpuprov.model.status import ExitStatus

VPC = "aws:ec2/vpc:Vpc"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    one = make_world(tmp_path, monkeypatch)
    monkeypatch.setattr(module, "open_cloud", lambda _site: one.place)
    return one


def settle(world: World, *, answer: bool = True) -> tuple[Recovery, list[Recovery]]:
    asked: list[Recovery] = []

    def agree(found: Recovery) -> bool:
        asked.append(found)
        return answer

    return recover(world.site.path, ignore_progress, agree=agree), asked


def test_nothing_to_settle_is_not_asked_about(world: World) -> None:
    world.up()
    before = list(world.stack.recovered_with)
    found, asked = settle(world)
    assert (found.empty, found.done, found.status, asked) == (True, False, ExitStatus.DONE, [])
    assert world.stack.recovered_with == before


def test_what_is_found_and_left_is_a_difference(world: World) -> None:
    world.stack.unfinished = True
    world.stack.pending = (Pending(address="instance.train-a", urn="u", type=INSTANCE, operation="creating"),)
    found, asked = settle(world, answer=False)
    assert asked[0].pending == (("instance.train-a", "creating"),)
    assert (found.done, found.status) == (False, ExitStatus.DIFFERENT)
    assert world.stack.recovered_with == []
    found, _ = settle(world)
    assert (found.done, found.status) == (True, ExitStatus.DONE)
    assert world.stack.recovered_with == [True], "with the document: everything of the spec is looked for"


def test_orphans_are_taken_in_but_for_a_second_one_that_holds_data(world: World) -> None:
    world.up()
    world.account.there = (
        Tagged(type=VPC, id="vpc-9", key="site/vpc/other"),
        Tagged(type=INSTANCE, id="i-9", key="site/instance/train-a"),
        Tagged(type=VOLUME, id="vol-9", key="site/volume/gone/train-a"),
    )
    found, _ = settle(world)
    assert {one.id for one in found.orphans} == {"vpc-9", "i-9", "vol-9"}
    assert world.stack.resources["vpc.other"].id == "vpc-9"
    assert world.stack.resources["volume.gone/train-a"].id == "vol-9"
    assert world.stack.resources["instance.train-a"].id != "i-9"
    told = {d.address: (d.code, d.severity.value) for d in found.diagnostics}
    assert told["vpc.other"] == ("GP-CLOUD-023", "note")
    assert told["instance.train-a"] == ("GP-CLOUD-064", "warning")


def test_a_spec_that_cannot_be_decided_does_not_stop_recovery(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.stack.unfinished = True
    monkeypatch.setattr(world.account, "offerings", lambda _types: {})
    found, _ = settle(world)
    assert world.stack.recovered_with == [False]
    assert [d.code for d in found.diagnostics] == ["GP-CLOUD-015"]
    assert (found.done, found.status) == (True, ExitStatus.DONE)
