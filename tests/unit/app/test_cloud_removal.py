"""`destroy` in the cloud: hosts and network go, what holds data stays and is named, unless it was named itself."""

import pytest
from app_world import World

from gpuprov.app.access import Access
from gpuprov.app.ground import UpRequest, open_ground
from gpuprov.cloud.state import INSTANCE, Pending
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
    assert [d.hint for d in result.diagnostics] == ["`gpuprov image prune` deletes it"]


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
    assert not world.stack.removed
    assert "instance.train-a" in world.stack.resources


def test_what_an_interrupted_run_left_is_settled_before_anything_goes(world: World) -> None:
    world.up()
    world.stack.pending = (Pending(address="instance.train-c", urn="u", type=INSTANCE, operation="creating"),)
    result = world.destroy()
    assert world.account.asked == [f"{INSTANCE} site/instance/train-c"]
    assert "GP-CLOUD-023" in world.codes(result)


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
