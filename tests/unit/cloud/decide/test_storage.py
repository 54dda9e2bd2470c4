from dataclasses import replace
from typing import Any

import pytest
from cloud_builders import REGION, cloud_spec

from gpuprov.cloud.decide.standing import Standing, StandingBucket, StandingHost, StandingVolume
from gpuprov.cloud.decide.storage import bucket_names, bucket_part, check_detaching, size_gib, volume_parts
from gpuprov.cloud.decide.tags import Owner
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.cloud import CloudSpec
from gpuprov.spec.storage import StorageSpec

OWNER = Owner(spec="train", stack="train")
HOSTS = {"b": ("ml", "us-east-1b"), "a": ("train", "us-east-1a")}
THERE = StandingVolume(
    zone="us-east-1a", size_gib=500, iops=3000, throughput=125, device="/dev/sdp", tags={"Name": "x"}
)


def cloud() -> CloudSpec:
    found = cloud_spec().cloud
    assert found is not None
    return found


def volumes(size: str = "500GiB", standing: Standing = Standing(), replace_: tuple[str, ...] = ()) -> dict[str, Any]:  # noqa: B008 frozen
    storage = {"scratch": StorageSpec(kind="volume", size=size), "data": StorageSpec(kind="object")}
    return {e["name"]: e for e in volume_parts(storage, HOSTS, OWNER, standing.without(replace_))}  # type: ignore[misc]


@pytest.mark.parametrize(("text", "size"), [("1GiB", 1), ("500GiB", 500), ("2TiB", 2048), ("64TiB", 65536)])
def test_a_size_is_whole_gibibytes(text: str, size: int) -> None:
    assert size_gib(text, "storage.x.size") == size


@pytest.mark.parametrize("text", ["", "0GiB", "5", "5GB", "1.5TiB", "65TiB", "-1GiB", "99999999999TiB"])
def test_what_gp3_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(GpuprovError, match=r"GP-SPEC-005 storage.x.size"):
        size_gib(text, "storage.x.size")


def test_each_host_has_a_volume_in_its_zone() -> None:
    found = volumes()
    assert list(found) == ["scratch/a", "scratch/b"]
    assert [(e["zone"], e["host"], e["size_gib"], e["iops"], e["throughput"]) for e in found.values()] == [
        ("us-east-1a", "a", 500, 3000, 125),
        ("us-east-1b", "b", 500, 3000, 125),
    ]
    assert found["scratch/b"]["tags"]["gpuprov:pool"] == "ml"
    assert found["scratch/a"]["device"] == found["scratch/b"]["device"]


def test_an_attached_volume_keeps_its_device_name() -> None:
    assert volumes(standing=Standing(volumes={"scratch/a": THERE}))["scratch/a"]["device"] == "/dev/sdp"


def test_a_volume_grows_and_never_shrinks_unless_it_is_made_anew() -> None:
    standing = Standing(volumes={"scratch/a": THERE})
    assert volumes("501GiB", standing)["scratch/a"]["size_gib"] == 501
    with pytest.raises(GpuprovError, match="has 500 GiB and cannot shrink to 499 GiB"):
        volumes("499GiB", standing)
    assert volumes("499GiB", standing, ("scratch/a",))["scratch/a"]["size_gib"] == 499


def test_a_bucket_that_stands_keeps_its_name() -> None:
    storage = {"data": StorageSpec(kind="object"), "scratch": StorageSpec(kind="volume", size="1GiB")}
    assert bucket_names("train", storage, cloud(), Standing()) == {"data": "train-data-111122223333-us-east-1"}
    there = Standing(buckets={"data": StandingBucket(bucket="old-name", tags={})})
    elsewhere = replace(cloud(), account="999999999999")
    assert bucket_names("train", storage, elsewhere, there) == {"data": "old-name"}


def test_a_bucket_is_never_emptied_by_the_engine() -> None:
    part = bucket_part("data", "b-1", REGION, {"Name": "n"})
    assert (part["force_destroy"], part["unfinished_days"]) == (False, 7)


SCRATCH = {"scratch": StorageSpec(kind="volume", size="500GiB")}
HOST = StandingHost(zone="us-east-1a", type="p5.48xlarge", root_gib=200)
BOTH = Standing(hosts={"a": HOST}, volumes={"scratch/a": THERE})
LOOSE = Standing(hosts={"a": HOST}, volumes={"scratch/a": replace(THERE, device=None)})


@pytest.mark.parametrize(
    ("storage", "hosts", "standing", "named"),
    [
        pytest.param(SCRATCH, {"a"}, BOTH, (), id="nothing goes"),
        pytest.param(SCRATCH, {"a"}, BOTH, ("a",), id="the host is made anew, its volume stays"),
        pytest.param(SCRATCH, {"a"}, BOTH, ("a", "scratch"), id="both are made anew"),
        pytest.param({}, {"a"}, BOTH, ("a",), id="the volume goes with the host that is made anew"),
        pytest.param({}, set(), BOTH, (), id="both go"),
        pytest.param({}, {"a"}, LOOSE, (), id="a volume that no host holds goes"),
    ],
)
def test_a_volume_may_go_with_its_host(storage: Any, hosts: Any, standing: Standing, named: tuple[str, ...]) -> None:
    check_detaching(storage, hosts, standing, named)


@pytest.mark.parametrize(
    ("storage", "named", "hint"),
    [
        pytest.param({}, (), "put scratch back into the spec, or give `--replace scratch/a --replace a`", id="dropped"),
        pytest.param({}, ("scratch",), "put scratch back", id="dropped and named"),
        pytest.param(SCRATCH, ("scratch/a",), "make the host anew too: `--replace scratch/a --replace a`", id="named"),
        pytest.param(SCRATCH, ("scratch",), "make the host anew too", id="named by its storage"),
    ],
)
def test_a_volume_is_never_taken_off_a_host_that_stays(storage: Any, named: tuple[str, ...], hint: str) -> None:
    with pytest.raises(GpuprovError, match=r"GP-CLOUD-014 storage.scratch: the volume scratch/a is attached") as caught:
        check_detaching(storage, {"a"}, BOTH, named)
    assert caught.value.diagnostics[0].hint.startswith(hint)
