import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cloud_builders import (
    BASE,
    BUILDER_TYPE,
    KEYS,
    REGION,
    STORAGE,
    TYPE,
    ZONES,
    cloud_document,
    cloud_lock,
    cloud_network,
    cloud_pool,
    cloud_spec,
    entries,
    section,
)

from gpuprov.cloud.decide.document import builder_document, data_document, standing_document
from gpuprov.cloud.decide.standing import Standing, StandingBucket, StandingVolume, standing_of
from gpuprov.cloud.types import Document
from gpuprov.model.diagnostic import GpuprovError

GOLDEN = Path(__file__).parents[3] / "golden" / "stack-document.json"


def all_tags(value: object) -> list[dict[str, str]]:
    """Every `tags` of a document, wherever it stands."""
    if isinstance(value, dict):
        mine = [tags for key, tags in value.items() if key == "tags" or key.endswith("_tags")]
        return mine + [tags for member in value.values() for tags in all_tags(member)]
    return [tags for member in value for tags in all_tags(member)] if isinstance(value, list) else []


def test_the_document_is_the_one_we_agreed_on() -> None:
    # A difference is a change of every stack that stands. Write it anew only when it is meant to be one.
    assert cloud_document() == json.loads(GOLDEN.read_text())


def test_equal_specs_make_equal_documents() -> None:
    assert json.dumps(cloud_document(), sort_keys=True) == json.dumps(cloud_document(), sort_keys=True)


def test_no_two_resources_have_one_id_and_all_name_the_spec() -> None:
    spec = cloud_spec(cloud_pool(), cloud_pool("b", hosts=("b-1",)))
    found = all_tags(cloud_document(spec))
    ids = [tags["gpuprov:id"] for tags in found]
    assert len(ids) == len(set(ids)) > 15
    assert {tags["gpuprov:spec"] for tags in found} == {"train"}
    assert all(tags["Name"] for tags in found)


def test_a_pool_more_changes_nothing_of_the_others() -> None:
    one = cloud_document(cloud_spec(cloud_pool()))
    two = cloud_document(cloud_spec(cloud_pool("a", hosts=("a-1",)), cloud_pool()))
    for key in ("instances", "volumes", "buckets"):
        assert entries(one, key).items() <= entries(two, key).items()
    assert {**two, "instances": 0, "volumes": 0} == {**one, "instances": 0, "volumes": 0}


def test_new_hosts_start_from_the_given_image_or_the_locks() -> None:
    spec = cloud_spec(cloud_pool(), cloud_pool("b", hosts=("b-1",)))
    found = entries(cloud_document(spec, images={"train": "ami-1"}), "instances")
    assert (found["train-a"]["image"], found["b-1"]["image"]) == ("ami-1", BASE)


def test_only_what_is_named_is_made_anew() -> None:
    found = entries(cloud_document(replace=("train-b",)), "instances")
    assert {name: entry["replace"] for name, entry in found.items()} == {"train-a": False, "train-b": True}


def test_a_volume_goes_only_with_its_host() -> None:
    inputs: dict[str, dict[str, object]] = {
        "instance.train-a": {"availabilityZone": "us-east-1a", "instanceType": TYPE},
        "volume.scratch/train-a": {"availabilityZone": "us-east-1a", "size": 500.0},
        "volume_attachment.scratch/train-a": {"deviceName": "/dev/sdf"},
    }
    with pytest.raises(GpuprovError, match="GP-CLOUD-014"):
        cloud_document(standing=standing_of(inputs), replace=("scratch/train-a",))
    found = cloud_document(standing=standing_of(inputs), replace=("scratch/train-a", "train-a"))
    assert entries(found, "instances")["train-a"]["replace"]


def test_each_hosts_user_data_is_its_own() -> None:
    found = entries(cloud_document(), "instances")
    assert "train-b" not in found["train-a"]["user_data"]
    assert found["train-a"]["user_data"].replace("train-a", "train-b") == found["train-b"]["user_data"]


def test_without_hosts_only_what_holds_data_is_left() -> None:
    document = cloud_document(cloud_spec(cloud_pool(hosts=())))
    assert [document[key] for key in ("network", "security_group", "identity", "instances", "volumes")] == [
        *(None, None, None),
        *([], []),
    ]
    assert set(entries(document, "buckets")) == {"datasets"}


def test_a_spec_without_a_cloud_target_has_no_document() -> None:
    with pytest.raises(GpuprovError, match=r"GP-SPEC-008 targets.cloud"):
        cloud_document(replace(cloud_spec(), cloud=None))


def builder(**arguments: Any) -> Document:
    spec = cloud_spec()
    given: dict[str, Any] = {"zones": ZONES, "login_keys": KEYS}
    return builder_document(spec, cloud_lock(), spec.pools["train"], **given | arguments)


def calls_for(hosts: int) -> int:
    """How many calls it takes to decide about so many hosts, each with a volume that stands."""
    names = tuple(f"h{number}" for number in range(hosts))
    spec = cloud_spec(cloud_pool(hosts=names), storage={"scratch": STORAGE["scratch"]})
    there = StandingVolume(zone=f"{REGION}a", size_gib=500, iops=3000, throughput=125, device="/dev/sdf", tags={})
    standing = Standing(volumes={f"scratch/{name}": there for name in names})
    count = 0

    def seen(_frame: object, event: str, _about: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(seen)
    try:
        cloud_document(spec, standing=standing)
    finally:
        sys.setprofile(None)
    return count


def test_the_work_grows_in_a_line_with_the_hosts() -> None:
    assert calls_for(160) < 4.4 * calls_for(40)


def test_a_builder_stands_alone() -> None:
    document = builder()
    (instance,) = entries(document, "instances").values()
    assert (instance["name"], instance["type"], instance["image"]) == ("builder", BUILDER_TYPE, BASE)
    assert (document["identity"], document["buckets"], document["volumes"]) == (None, [], [])
    assert builder(image="ami-9")["instances"] != document["instances"]


def test_recovery_never_takes_a_hosts_resource_for_the_builders() -> None:
    ids = [{tags["gpuprov:id"] for tags in all_tags(document)} for document in (builder(), cloud_document())]
    assert not ids[0] & ids[1]
    assert section(builder(), "security_group")["name"] != section(cloud_document(), "security_group")["name"]


def test_a_builder_needs_a_pool_in_the_cloud() -> None:
    spec = cloud_spec()
    with pytest.raises(GpuprovError, match=r"GP-SPEC-008 pools.train.cloud"):
        builder_document(spec, cloud_lock(), replace(spec.pools["train"], cloud=None), zones=ZONES, login_keys=KEYS)
    with pytest.raises(GpuprovError, match=r"GP-CLOUD-022 targets.cloud.image.builder"):
        builder(zones={})


def test_destroy_leaves_buckets_and_volumes_attached_to_nothing() -> None:
    left = data_document(cloud_document(), delete=())
    assert [left[key] for key in ("network", "security_group", "identity", "instances")] == [None, None, None, []]
    assert entries(left, "buckets") == entries(cloud_document(), "buckets")
    before = entries(cloud_document(), "volumes")
    assert entries(left, "volumes") == {n: e | {"host": None, "device": None} for n, e in before.items()}


@pytest.mark.parametrize(
    ("delete", "buckets", "volumes"),
    [
        ({"datasets"}, set(), {"scratch/train-a", "scratch/train-b"}),
        ({"scratch"}, {"datasets"}, set()),
        ({"scratch/train-b"}, {"datasets"}, {"scratch/train-a"}),
        ({"datasets", "scratch"}, set(), set()),
    ],
)
def test_what_is_named_goes_as_well(delete: set[str], buckets: set[str], volumes: set[str]) -> None:
    left = data_document(cloud_document(), delete=delete)
    assert (set(entries(left, "buckets")), set(entries(left, "volumes"))) == (buckets, volumes)


def test_a_name_that_stands_for_nothing_is_refused() -> None:
    with pytest.raises(GpuprovError, match=r"GP-CLOUD-026 storage.datsets: .* no bucket, volume or share datsets"):
        data_document(cloud_document(), delete={"datsets"})


def test_what_stands_can_be_left_without_the_spec_knowing_it() -> None:
    there = Standing(
        volumes={
            "old/h": StandingVolume(
                zone="us-east-1b", size_gib=7, iops=4000, throughput=200, device="/dev/sdf", tags={"Name": "x"}
            )
        },
        buckets={"old": StandingBucket(bucket="train-old", tags={"Name": "y"})},
    )
    document = data_document(standing_document(cloud_spec(), there), delete=())
    (volume,) = entries(document, "volumes").values()
    assert (volume["zone"], volume["size_gib"], volume["iops"], volume["throughput"]) == ("us-east-1b", 7, 4000, 200)
    assert (volume["host"], volume["device"], volume["tags"]) == (None, None, {"Name": "x"})
    (bucket,) = entries(document, "buckets").values()
    assert (bucket["bucket"], bucket["tags"]) == ("train-old", {"Name": "y"})
    assert document["network"] is None


def test_hosts_that_do_not_reach_out_have_no_gateway() -> None:
    document = cloud_document(cloud_spec(network=cloud_network(public=False, egress="endpoints")))
    assert (section(document, "network")["public"], section(document, "network")["gateway"]) == (False, None)
