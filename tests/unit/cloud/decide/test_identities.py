from dataclasses import replace
from typing import Any

import pytest
from cloud_builders import STORAGE, cloud_document, cloud_pool, cloud_spec, entries

from gpuprov.cloud.decide.standing import Standing, StandingHost
from gpuprov.cloud.types import Document
from gpuprov.spec.access import AccessSpec, GroupSpec
from gpuprov.spec.storage import StorageSpec
from gpuprov.spec.types import PoolSpec, Spec

WEB = cloud_pool("web", hosts=("web-1",), instance="c7i.2xlarge")
BUCKET = StorageSpec(kind="object")
OF_TRAIN = StorageSpec(kind="object", pools=("train",))


def spec(*pools: PoolSpec, access: AccessSpec | None = None, **storage: StorageSpec) -> Spec:
    made = cloud_spec(*(pools or (cloud_pool(), WEB)), storage=storage)
    return replace(made, access=access or AccessSpec())


def acting(document: Document) -> dict[str, Any]:
    """Host -> the role that it acts as: a key of the document's, or a profile of the account."""
    return {name: host["identity"] or host["instance_profile"] for name, host in entries(document, "instances").items()}


def roles(document: Any) -> dict[str, dict[str, Any]]:
    """The document's roles by their keys."""
    made = [*([document["identity"]] if document["identity"] else []), *document["pool_identities"]]
    return {role["key"]: role for role in made}


def policies(document: Document) -> dict[str, list[str]]:
    """Role -> what its policy is about."""
    return {
        key: sorted({arn for s in (role["policy"] or {"Statement": []})["Statement"] for arn in s["Resource"]})
        for key, role in roles(document).items()
    }


def arns(*storage: str) -> list[str]:
    buckets = (f"arn:aws:s3:::train-{name}-111122223333-us-east-1" for name in storage)
    return sorted(arn for bucket in buckets for arn in (bucket, f"{bucket}/*"))


def test_pools_with_the_same_buckets_share_the_role_that_they_always_had() -> None:
    document = cloud_document(spec(data=BUCKET))
    assert acting(document) == {"train-a": "main", "train-b": "main", "web-1": "main"}
    assert policies(document) == {"main": arns("data")}
    assert roles(document)["main"]["name"] == "gpuprov-train-us-east-1"


def test_a_pool_with_a_bucket_of_its_own_has_a_role_of_its_own_with_the_common_ones() -> None:
    document = cloud_document(spec(data=BUCKET, secret=OF_TRAIN))
    assert acting(document) == {"train-a": "pool/train", "train-b": "pool/train", "web-1": "main"}
    assert policies(document) == {"main": arns("data"), "pool/train": arns("data", "secret")}
    role = roles(document)["pool/train"]
    assert role["name"].startswith("gpuprov-train-us-east-1-train-")
    assert (role["tags"]["gpuprov:id"], role["tags"]["gpuprov:pool"]) == ("train/role/pool/train", "train")


def test_a_pool_without_any_bucket_has_no_role() -> None:
    document = cloud_document(spec(secret=OF_TRAIN))
    assert acting(document) == {"train-a": "pool/train", "train-b": "pool/train", "web-1": None}
    assert document["identity"] is None


def test_no_role_is_left_over_when_every_pool_has_its_own() -> None:
    document = cloud_document(spec(cloud_pool(), data=BUCKET, secret=OF_TRAIN))
    assert list(policies(document)) == ["pool/train"]


@pytest.mark.parametrize("profile", ["gpuprov-train-us-east-1-train-0badc0de", "brought"])
def test_a_host_that_has_a_role_keeps_one_without_rights(profile: str) -> None:
    # The provider leaves a profile on an instance when the program drops it.
    there = StandingHost(zone="us-east-1a", type="c7i.2xlarge", root_gib=200, profile=profile)
    document = cloud_document(spec(WEB), standing=Standing(hosts={"web-1": there}))
    assert acting(document) == {"web-1": "main"}
    assert policies(document) == {"main": []}


def test_a_role_of_the_account_takes_the_place_of_ours() -> None:
    pool = cloud_pool()
    assert pool.cloud is not None
    named = replace(pool, cloud=replace(pool.cloud, role="gpu-hosts"))
    document = cloud_document(spec(named, WEB, data=BUCKET, secret=OF_TRAIN), profiles={"gpu-hosts": "gpu-profile"})
    assert acting(document) == {"train-a": "gpu-profile", "train-b": "gpu-profile", "web-1": "main"}
    assert policies(document) == {"main": arns("data")}


def test_every_role_that_is_made_is_bound() -> None:
    bound = "arn:aws:iam::111122223333:policy/team"
    made = spec(data=BUCKET, secret=OF_TRAIN)
    assert made.cloud is not None
    document = cloud_document(replace(made, cloud=replace(made.cloud, permissions_boundary=bound)))
    assert [role["permissions_boundary"] for role in roles(document).values()] == [bound, bound]


@pytest.mark.parametrize(
    ("groups", "writes"),
    [
        ({}, True),
        ({"ml": GroupSpec(read=("data",))}, False),
        ({"ml": GroupSpec(write=("data",))}, True),
        ({"ml": GroupSpec(read=("data",)), "ops": GroupSpec(write=("data",))}, True),
        ({"ml": GroupSpec(read=("other",))}, True),
    ],
)
def test_hosts_have_a_bucket_as_far_as_their_groups(groups: dict[str, GroupSpec], *, writes: bool) -> None:
    document = cloud_document(spec(access=AccessSpec(groups=groups), data=BUCKET, other=BUCKET))
    statements = roles(document)["main"]["policy"]["Statement"]
    (objects,) = [s for s in statements if s["Resource"] == ["arn:aws:s3:::train-data-111122223333-us-east-1/*"]]
    assert ("s3:PutObject" in objects["Action"]) is writes
    assert "s3:GetObject" in objects["Action"]


def test_a_storage_that_is_no_bucket_makes_no_role() -> None:
    document = cloud_document(spec(scratch=STORAGE["scratch"]))
    assert (document["identity"], document["pool_identities"]) == (None, [])
