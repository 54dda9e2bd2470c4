import json
from typing import Any

import pytest
from cloud_builders import REGION

from gpuprov.cloud.decide.identity import identity_part, partition, tls_policy
from gpuprov.cloud.decide.tags import Owner
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.storage import StorageSpec

OWNER = Owner(spec="train", stack="train")


def policy(region: str = REGION, **storage: Any) -> list[dict[str, Any]]:
    spec = StorageSpec(kind="object", **storage)
    part: Any = identity_part({"data": spec}, {"data": "bucket-1"}, region, OWNER)
    statements: list[dict[str, Any]] = part["policy"]["Statement"]
    return statements


def test_only_the_buckets_prefixes_may_be_listed_and_used() -> None:
    listing, objects = policy(prefixes=("runs/", "raw/"))
    assert listing == {
        "Effect": "Allow",
        "Action": ["s3:ListBucket"],
        "Resource": ["arn:aws:s3:::bucket-1"],
        "Condition": {"StringLike": {"s3:prefix": ["raw/", "raw/*", "runs/", "runs/*"]}},
    }
    assert objects["Resource"] == ["arn:aws:s3:::bucket-1/raw/*", "arn:aws:s3:::bucket-1/runs/*"]


def test_writing_takes_the_word_of_the_spec() -> None:
    reading = policy(write=False)[1]["Action"]
    assert reading == ["s3:GetObject"]
    writing = policy(write=True)[1]["Action"]
    assert writing == ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"]


def test_without_prefixes_the_whole_bucket_is_meant_and_no_other() -> None:
    listing, objects = policy()
    assert "Condition" not in listing
    assert objects["Resource"] == ["arn:aws:s3:::bucket-1/*"]


def test_a_prefix_means_itself_where_policies_have_wildcards() -> None:
    assert policy(prefixes=("a*?$/",))[1]["Resource"] == ["arn:aws:s3:::bucket-1/a${*}${?}${$}/*"]


def test_only_ec2_may_take_the_role() -> None:
    part: Any = identity_part({"d": StorageSpec(kind="object")}, {"d": "b"}, REGION, OWNER)
    (statement,) = part["assume_role_policy"]["Statement"]
    assert statement == {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    assert part["name"] == "gpuprov-train-us-east-1"


def test_there_is_no_role_without_a_bucket() -> None:
    assert identity_part({"scratch": StorageSpec(kind="volume", size="1GiB")}, {}, REGION, OWNER) is None


def test_a_role_that_stands_stays_without_a_policy() -> None:
    part: Any = identity_part({}, {}, REGION, OWNER, stands=True)
    assert (part["name"], part["policy"]) == ("gpuprov-train-us-east-1", None)


def test_a_policy_longer_than_iam_takes_is_refused() -> None:
    with pytest.raises(GpuprovError, match=r"GP-SPEC-005 storage: the hosts' policy .* has \d+ characters"):
        policy(prefixes=tuple(f"{'p' * 60}{number}/" for number in range(100)))


@pytest.mark.parametrize(
    ("region", "name"), [("us-east-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")]
)
def test_an_arn_begins_with_the_regions_partition(region: str, name: str) -> None:
    assert partition(region) == name
    assert policy(region)[0]["Resource"] == [f"arn:{name}:s3:::bucket-1"]
    assert f"arn:{name}:s3:::b/*" in json.dumps(tls_policy("b", region))


def test_without_tls_nobody_may_do_anything_with_a_bucket() -> None:
    found: Any = tls_policy("bucket-1", REGION)
    (statement,) = found["Statement"]
    assert (statement["Effect"], statement["Principal"], statement["Action"]) == ("Deny", "*", "s3:*")
    assert statement["Resource"] == ["arn:aws:s3:::bucket-1", "arn:aws:s3:::bucket-1/*"]
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
