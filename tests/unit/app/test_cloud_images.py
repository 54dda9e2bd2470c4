"""What new instances start from: a checked image of exactly this software, else the lock's base image."""

from dataclasses import replace

import pytest
from app_world import World
from ground_builders import BASE, SPEC, cloud_lock

from gpuprov.app.components import catalog_components
from gpuprov.catalog.load import PACKAGED
from gpuprov.cloud.decide.baked import baked_digest
from gpuprov.cloud.images_text import IMAGES_NAME, write_images
from gpuprov.cloud.types import Image
from gpuprov.want.pool import pool_want


def bake(world: World, *, in_account: bool = True, **changes: object) -> Image:
    """An image of the pool's software, listed beside the spec."""
    spec = world.site.spec
    want = pool_want(cloud_lock(), spec, spec.pools["train"], "cloud", components=catalog_components(PACKAGED))
    image = Image(
        id="ami-baked", name="n", pool="train", os="debian-12", arch="amd64", region="us-east-1",
        baked=baked_digest(want), base=BASE, made="2026-11-30T00:00:00Z", checked=True,
    )  # fmt: skip
    image = replace(image, **changes)  # type: ignore[arg-type]
    (world.site.path.parent / IMAGES_NAME).write_text(write_images([image]), encoding="utf-8")
    world.account.baked = (image,) if in_account else ()
    return image


def test_hosts_start_from_the_baked_image_and_need_no_package(world: World) -> None:
    bake(world)
    world.up()
    new = world.asked[0][0].resources.new_hosts
    assert [(host.image, host.packages) for host in new] == [("ami-baked (baked for this want)", ())] * 2
    assert world.stack.resources["instance.train-a"].outputs["ami"] == "ami-baked"


@pytest.mark.parametrize(
    "changes",
    [
        {"checked": False},
        {"baked": "sha256:other", "base": "ami-other"},
        {"baked": "sha256:other", "arch": "arm64"},
        {"region": "eu-west-1"},
        {"pool": "other"},
    ],
)
def test_an_image_that_does_not_fit_is_not_used(world: World, changes: dict[str, object]) -> None:
    bake(world, **changes)
    world.up()
    assert world.stack.resources["instance.train-a"].outputs["ami"] == BASE


def test_an_image_of_an_earlier_lock_is_told_and_the_rest_comes_with_converge(world: World) -> None:
    bake(world, baked="sha256:earlier")
    world.up()
    plan, told = world.asked[0]
    assert [(d.code, str(d.severity), d.address) for d in told] == [("GP-CLOUD-072", "note", "image.train/ami-baked")]
    assert {host.image for host in plan.resources.new_hosts} == {"ami-baked (baked for an earlier lock)"}
    assert all(host.packages for host in plan.resources.new_hosts), "what comes is shown"
    assert world.stack.resources["instance.train-a"].outputs["ami"] == "ami-baked"
    assert world.converged == [["train-a", "train-b"]]


def test_an_image_of_an_earlier_lock_that_the_account_lost_is_not_used(world: World) -> None:
    bake(world, baked="sha256:earlier", in_account=False)
    world.up()
    assert world.stack.resources["instance.train-a"].outputs["ami"] == BASE


def test_who_does_not_bake_starts_from_the_base(world: World) -> None:
    bake(world)
    world.rewrite(text=SPEC + "    image: {bake: false}\n")
    world.up()
    assert world.stack.resources["instance.train-a"].outputs["ami"] == BASE


def test_an_image_that_the_account_lost_is_told_and_the_base_is_used(world: World) -> None:
    bake(world, in_account=False)
    world.up()
    plan, told = world.asked[0]
    assert [(d.code, str(d.severity)) for d in told] == [("GP-CLOUD-018", "warning")]
    assert plan.resources.new_hosts[0].image.startswith(BASE)


def test_where_the_account_lost_the_newest_an_image_of_before_serves(world: World) -> None:
    older = bake(world, id="ami-older", baked="sha256:earlier", made="2026-11-01T00:00:00Z")
    lost = bake(world)
    (world.site.path.parent / IMAGES_NAME).write_text(write_images([older, lost]), encoding="utf-8")
    world.account.baked = (older,)
    world.up()
    _, told = world.asked[0]
    assert [d.code for d in told] == ["GP-CLOUD-018", "GP-CLOUD-072"]
    assert world.stack.resources["instance.train-a"].outputs["ami"] == "ami-older"


def test_hosts_from_an_older_image_are_told_and_not_touched(world: World) -> None:
    world.up()
    bake(world)
    world.asked.clear()
    result = world.up()
    assert [(d.code, d.address) for d in result.diagnostics] == [
        ("GP-CLOUD-020", "train-a"),
        ("GP-CLOUD-020", "train-b"),
    ]
    assert world.asked == []
    assert world.stack.resources["instance.train-a"].outputs["ami"] == BASE
