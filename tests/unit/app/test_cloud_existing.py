"""Instances that were there already, through `up`, `destroy` and what asks no account."""

from dataclasses import replace
from pathlib import Path

import pytest
from app_world import World, make_world
from ground_builders import SPEC, cloud_lock

from gpuprov.app import cloud_ground
from gpuprov.app.access import Access
from gpuprov.app.cloud_existing import reachable, recorded_hosts
from gpuprov.app.cloud_ground import CloudGround
from gpuprov.app.named import named_hosts
from gpuprov.app.output import output
from gpuprov.app.targets import cloud_names
from gpuprov.cloud.existing_aws import FoundInstance
from gpuprov.cloud.types import InstanceState
from gpuprov.lock.images import image_needs
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.progress import ignore_progress
from gpuprov.spec.decode import load

TEXT = (
    SPEC.replace("storage:\n  datasets: {kind: object}\n  scratch: {kind: volume, size: 100GiB}\n", "")
    .replace("pools:\n", "pools:\n  old:\n    gpu: {model: H100-SXM5-80GB, per_host: 8}\n    cloud: OLD\n")
    .replace("OLD", "{instance: p5.48xlarge, existing: {tags: {team: ml}}}")
)
OLD = FoundInstance(
    id="i-00000000000000001",
    type="p5.48xlarge",
    image="ami-theirs",
    zone="us-east-1a",
    state=InstanceState.RUNNING,
    private_address="172.31.0.9",
    public_address="",
    tags={"team": "ml", "Name": "old-a"},
)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Two pools: one whose hosts are made, and one with an instance of somebody else."""
    world = make_world(tmp_path, monkeypatch, text=TEXT)
    world.account.others = (OLD,)
    lock = cloud_lock()
    both = replace(lock, pools={**lock.pools, "old": replace(lock.pools["train"], pool="old")})
    monkeypatch.setattr(cloud_ground, "open_lock", lambda _site: (both, "lock"))
    return world


def test_it_is_converged_beside_those_that_are_made_and_is_in_no_stack(world: World) -> None:
    result = world.up()
    assert sorted(host.host for host in result.hosts) == ["old-a", "train-a", "train-b"]
    assert sorted(world.stack.resources) == ["instance.train-a", "instance.train-b", "vpc.main"]
    plan, _ = world.asked[0]
    assert [host.host for host in plan.hosts] == ["old-a"], "what is there is planned before the question"


def test_it_is_known_afterwards_without_the_account(world: World) -> None:
    world.up()
    assert [host.name for host in recorded_hosts(world.site)] == ["old-a"]
    assert cloud_names(world.site)["old-a"] == "old"
    (host,) = named_hosts(["old-a"], world.site, Access()).hosts
    assert (host.pool, host.connection.address) == ("old", "172.31.0.9")
    assert "old-a" in [host.name for host in output(world.site.path, None)[0].hosts]


def test_a_limit_may_name_it_although_nothing_of_it_is_on_record(world: World) -> None:
    world.up()
    world.wanted.clear()
    (world.place.folder / "existing.json").unlink()
    assert [host.host for host in world.up(access=Access(limit="old-a")).hosts] == ["old-a"]


def test_one_that_is_stopped_is_left_out_with_the_way_out(world: World) -> None:
    world.account.others = (replace(OLD, state=InstanceState.STOPPED),)
    told = {d.address: d for d in world.up().diagnostics}["old-a"]
    assert told.code == "GP-CLOUD-016"
    assert "aws ec2 start-instances --region us-east-1 --instance-ids i-00000000000000001" in told.hint


def test_none_with_these_tags_is_refused_before_anything_is_made(world: World) -> None:
    world.account.others = ()
    with pytest.raises(GpuprovError) as caught:
        world.up()
    assert [d.code for d in caught.value.diagnostics] == ["GP-CLOUD-074"]
    assert world.stack.resources == {}
    absent = CloudGround(world.place, Access()).look(ignore_progress).absent
    assert {name: found.code for name, found in absent.items()} == {"old": "GP-CLOUD-074"}, "who only looks sees it"


def test_it_is_no_name_for_replace(world: World) -> None:
    world.up()
    with pytest.raises(GpuprovError) as caught:
        world.up(replace=("old-a",))
    assert caught.value.diagnostics[0].code == "GP-CLOUD-026"


def test_destroy_leaves_it_and_says_so(world: World) -> None:
    world.up()
    result = world.destroy()
    assert world.stack.removed
    assert [(d.code, d.detail) for d in result.diagnostics if d.code == "GP-CLOUD-077"] == [("GP-CLOUD-077", "old-a")]


def test_one_that_left_the_tags_is_forgotten(world: World) -> None:
    world.up()
    world.account.others = (replace(OLD, id="i-00000000000000002", tags={"team": "ml", "Name": "old-b"}),)
    world.up()
    assert [host.name for host in reachable(world.site, world.stack.state().made).hosts if host.pool == "old"] == [
        "old-b"
    ]
    assert "i-00000000000000001" not in (world.place.folder / "host_keys.json").read_text()


def test_the_spec_asks_for_no_base_image_of_it() -> None:
    spec, wrong = load(TEXT.replace("  old:\n", "  old:\n    os: debian-13\n").replace("HOSTS", "train-a"), "f")
    assert wrong == ()
    assert spec is not None
    assert [need.os for need in image_needs(spec)] == ["debian-12"]
