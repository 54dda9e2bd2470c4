"""`destroy` in the cloud: hosts and network go, what holds data stays and is named, unless it was named itself."""

from typing import Any

import pytest
from app_world import World
from ground_builders import FakeStack
from state_files import state_file

from gpuprov.app.access import Access
from gpuprov.app.cloud_builders import builder_places
from gpuprov.app.cloud_site import place_of, refuse_other_account
from gpuprov.app.ground import UpRequest, open_ground
from gpuprov.cloud.state import INSTANCE, Pending, StackState, StateResource
from gpuprov.cloud.types import Image
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.status import ExitStatus

IMAGE = Image(
    id="ami-baked", name="n", pool="train", os="debian-12", arch="amd64", region="us-east-1", baked="d", base="b",
    made="2026-11-30T00:00:00Z", checked=True,
)  # fmt: skip


def test_data_stays_and_is_named_before_the_question_and_in_the_result(world: World) -> None:
    world.up()
    world.asked.clear()
    result = world.destroy()
    assert set(world.stack.resources) == {"bucket.datasets", "volume.scratch/train-a", "volume.scratch/train-b"}
    ((_, told),) = world.asked
    stays = {d.address for d in told if d.code == "GP-CLOUD-021"}
    assert stays == {"bucket.datasets", "volume.scratch/train-a", "volume.scratch/train-b"}
    assert result.resources is not None
    assert set(result.resources.left) == stays
    assert result.resources.left["bucket.datasets"].startswith("site-datasets-")
    assert result.status is ExitStatus.DONE
    assert not world.stack.removed
    assert world.account.emptied == []


def test_no_host_is_probed_and_none_is_changed(world: World) -> None:
    world.up()
    world.converged.clear()
    assert world.destroy().hosts == ()
    assert world.converged == [[]]


def test_named_data_goes_too_and_the_empty_stack_with_it(world: World) -> None:
    world.up()
    bucket = world.stack.state().made.buckets["datasets"]
    result = world.destroy("datasets", "scratch")
    assert world.stack.resources == {}
    assert world.stack.removed
    assert world.account.emptied == [bucket]
    assert result.resources is not None
    assert result.resources.left == {}


def test_hosts_are_gone_before_a_bucket_is_emptied(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.up()
    seen: list[set[str]] = []

    def empty(_name: str, **_: object) -> int:
        seen.append(set(world.stack.resources))
        return 1

    monkeypatch.setattr(world.account, "empty_bucket", empty)
    result = world.destroy("datasets", "scratch")
    assert seen == [{"bucket.datasets"}]
    assert world.stack.removed
    assert result.resources is not None
    addresses = [change.address for change in result.resources.changed]
    assert addresses.count("bucket.datasets") == addresses.count("instance.train-a") == 1


def test_one_volume_can_be_named_alone(world: World) -> None:
    world.up()
    world.destroy("scratch/train-b")
    assert set(world.stack.resources) == {"bucket.datasets", "volume.scratch/train-a"}


def test_what_is_left_can_be_deleted_later(world: World) -> None:
    world.up()
    world.destroy()
    world.destroy("datasets", "scratch")
    assert world.stack.removed


def test_a_second_destroy_asks_nothing_and_names_what_is_left(world: World) -> None:
    world.up()
    world.destroy()
    world.asked.clear()
    result = world.destroy()
    assert world.asked == []
    assert result.resources is not None
    assert set(result.resources.left) == {"bucket.datasets", "volume.scratch/train-a", "volume.scratch/train-b"}


@pytest.mark.parametrize("made", [True, False])
def test_an_unknown_name_is_refused_and_nothing_goes(world: World, *, made: bool) -> None:
    if made:
        world.up()
    before = dict(world.stack.resources)
    with pytest.raises(GpuprovError) as caught:
        world.destroy("datasetz")
    assert [d.code for d in caught.value.diagnostics] == ["GP-CLOUD-026"]
    assert world.stack.resources == before
    assert world.account.emptied == []


def test_images_stay_and_are_named(world: World) -> None:
    world.account.baked = (IMAGE,)
    result = world.destroy()
    assert result.resources is not None
    assert result.resources.left == {"image.train/ami-baked": "ami-baked"}
    assert [d.hint for d in result.diagnostics] == ["`gpuprov image prune --keep 0` deletes it"]


def test_who_declines_deletes_nothing(world: World) -> None:
    world.up()
    world.answer = False
    before = dict(world.stack.resources)
    world.destroy("datasets")
    assert world.stack.resources == before
    assert world.account.emptied == []


def test_a_failed_deletion_is_told_and_the_stack_stays(world: World) -> None:
    world.up()
    world.stack.fail_at = "instance.train-a"
    result = world.destroy("datasets", "scratch")
    assert result.status is ExitStatus.FAILED
    assert world.account.emptied == [], "a bucket was emptied although its hosts still stand"
    assert not world.stack.removed
    assert "instance.train-a" in world.stack.resources


def test_what_an_interrupted_run_left_is_settled_before_anything_goes(world: World) -> None:
    world.up()
    world.stack.pending = (Pending(address="instance.train-c", urn="u", type=INSTANCE, operation="creating"),)
    result = world.destroy()
    assert world.account.asked == [f"{INSTANCE} site/instance/train-c"]
    assert "GP-CLOUD-023" in world.codes(result)


def test_the_same_command_again_passes_over_what_the_one_before_had_deleted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.up()
    recover = world.stack.recover

    def found_gone(*words: Any, **more: Any) -> Any:
        told = recover(*words, **more)
        world.stack.resources.pop("bucket.datasets", None)
        return told

    monkeypatch.setattr(world.stack, "recover", found_gone)
    result = world.destroy("datasets", "scratch")
    assert result.status is ExitStatus.DONE
    assert world.stack.resources == {}
    with pytest.raises(GpuprovError) as caught:
        world.destroy("datasets")
    assert [d.code for d in caught.value.diagnostics] == ["GP-CLOUD-026"]


def test_neither_lock_nor_login_key_is_needed(world: World) -> None:
    world.up()
    world.site.path.parent.joinpath("key.pub").unlink()
    world.destroy("datasets", "scratch")
    assert world.stack.removed


def test_after_an_update_that_was_cut_off_the_account_is_searched_before_anything_goes(world: World) -> None:
    world.up()
    world.destroy()
    assert world.stack.recovered_with == [True, False]
    world.stack.unfinished = True
    world.destroy()
    assert world.stack.recovered_with[-1]


def test_what_cannot_be_searched_for_is_said(world: World) -> None:
    world.up()
    world.stack.unfinished = True
    world.site.path.parent.joinpath("key.pub").unlink()
    result = world.destroy()
    (told,) = [d for d in result.diagnostics if d.code == "GP-CLOUD-015"]
    assert "GP-CLOUD-019" in told.detail
    assert result.status is ExitStatus.DONE


def test_a_limit_is_refused_before_anything_goes(world: World) -> None:
    world.up()
    before = dict(world.stack.resources)
    request = UpRequest(spec=world.site.path, access=Access(limit="train-a"), target="cloud", release=True)
    with pytest.raises(GpuprovError) as caught:
        open_ground(world.site, request)
    assert [d.code for d in caught.value.diagnostics] == ["GP-RUN-004"]
    assert world.stack.resources == before


def a_builder(owner: str) -> FakeStack:
    stack = FakeStack()
    inputs = {"tags": {"gpuprov:id": f"{owner}/instance/builder"}}
    stack.resources["instance.builder"] = StateResource(
        address="instance.builder", urn="u", type=INSTANCE, id="i-builder", inputs=inputs
    )
    return stack


@pytest.mark.parametrize("made", [True, False])
def test_a_builder_that_a_killed_image_build_left_is_shown_and_goes(world: World, *, made: bool) -> None:
    if made:
        world.up()
    world.asked.clear()
    world.builders["train"] = a_builder("site:image:train")
    result = world.destroy()
    ((plan, _),) = world.asked
    assert "instance.builder (image builder of train)" in [change.address for change in plan.resources.changes]
    assert world.builders["train"].removed
    assert result.resources is not None
    assert "instance.builder (image builder of train)" in [change.address for change in result.resources.changed]


def test_a_stack_of_another_spec_that_is_named_like_a_builder_stays(world: World) -> None:
    world.builders["train"] = a_builder("site-image-train")
    world.destroy()
    assert world.asked == []
    assert not world.builders["train"].removed


def test_builders_are_found_by_the_files_of_their_stacks(world: World) -> None:
    main = place_of(world.site, {})
    folder = state_file(main).parent
    folder.mkdir(parents=True)
    for name in ("site", "site-image-train", "site-image-gone", "other-image-train"):
        (folder / f"{name}.json").write_text("{}", encoding="utf-8")
    found = builder_places(world.site, main)
    assert {pool: place.name for pool, place in found.items()} == {
        "gone": "site-image-gone",
        "train": "site-image-train",
    }


def test_without_a_state_nothing_is_called_gone_that_the_account_still_holds(world: World) -> None:
    world.account.lost = {"site/instance/train-a": "i-1", "site/bucket/datasets": "b"}
    with pytest.raises(GpuprovError) as caught:
        world.destroy()
    (told,) = caught.value.diagnostics
    assert told.code == "GP-CLOUD-015"
    assert told.detail == "instance.train-a: i-1\nbucket.datasets: b"


@pytest.mark.parametrize(
    ("arn", "refused"),
    [
        ("arn:aws:ec2:us-east-1:999922223333:instance/i-1", True),
        ("arn:aws:ec2:us-east-1:111122223333:instance/i-1", False),
        ("arn:aws:s3:::some-bucket", False),
        (None, False),
    ],
)
def test_a_stack_that_stands_in_another_account_is_refused(world: World, arn: str | None, *, refused: bool) -> None:
    cloud = world.site.spec.cloud
    assert cloud is not None
    row = StateResource(address="instance.train-a", urn="u", type=INSTANCE, id="i-1", outputs={"arn": arn})
    state = StackState(exists=True, resources={row.address: row})
    if not refused:
        refuse_other_account(state, cloud)
        return
    with pytest.raises(GpuprovError) as caught:
        refuse_other_account(state, cloud)
    assert [d.code for d in caught.value.diagnostics] == ["GP-CLOUD-005"]
