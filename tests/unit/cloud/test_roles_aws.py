"""Roles that the account has already, as IAM tells of them."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from gpuprov.cloud.roles_aws import profile_of
from gpuprov.model.diagnostic import GpuprovError

EC2 = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}


class Iam:
    """IAM with one role, whose profiles come a page at a time."""

    class exceptions:  # noqa: D106, N801 - boto3's name
        ClientError = ClientError

    def __init__(self, trust: Any, profiles: list[str]) -> None:
        self._trust = trust
        self._profiles = profiles

    def get_role(self, *, RoleName: str) -> dict[str, Any]:  # noqa: N803 - boto3's name
        if RoleName != "gpu":
            raise ClientError({"Error": {"Code": "NoSuchEntity"}}, "GetRole")
        return {"Role": {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": self._trust}}}

    def get_paginator(self, operation: str) -> "Iam":
        assert operation == "list_instance_profiles_for_role"
        return self

    def paginate(self, **asked: str) -> Any:
        assert asked == {"RoleName": "gpu"}
        yield from ({"InstanceProfiles": [{"InstanceProfileName": name}]} for name in self._profiles)


@pytest.mark.parametrize(("profiles", "found"), [(["other"], "other"), (["other", "gpu"], "gpu")])
def test_the_profile_of_the_same_name_or_the_only_one(profiles: list[str], found: str) -> None:
    assert profile_of(Iam([EC2], profiles), "gpu") == found


@pytest.mark.parametrize(
    "trust",
    [
        EC2,
        [{**EC2, "Principal": {"Service": ["lambda.amazonaws.com", "ec2.amazonaws.com"]}}],
        [{**EC2, "Action": ["sts:TagSession", "sts:assumeRole"]}],
        [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}, {**EC2, "Action": "sts:*"}],
    ],
)
def test_ways_to_let_ec2_in(trust: Any) -> None:
    assert profile_of(Iam(trust, ["gpu"]), "gpu") == "gpu"


@pytest.mark.parametrize(
    "trust",
    [
        {**EC2, "Effect": "Deny"},
        {**EC2, "Principal": {"Service": "lambda.amazonaws.com"}},
        {**EC2, "Principal": {"AWS": "arn:aws:iam::111122223333:root"}},
        {**EC2, "Principal": "*"},
        {**EC2, "Action": "sts:TagSession"},
        {**EC2, "Condition": {"StringEquals": {"aws:SourceAccount": "111122223333"}}},
        [],
    ],
)
def test_a_role_that_does_not_let_ec2_in(trust: Any) -> None:
    with pytest.raises(GpuprovError, match=r"GP-CLOUD-041 gpu: the trust policy"):
        profile_of(Iam(trust, ["gpu"]), "gpu")


@pytest.mark.parametrize(("profiles", "words"), [([], "it has none"), (["a", "b"], "it has 2: a, b")])
def test_a_role_without_one_profile(profiles: list[str], words: str) -> None:
    with pytest.raises(GpuprovError, match=rf"GP-CLOUD-042 gpu: .*{words}"):
        profile_of(Iam([EC2], profiles), "gpu")


def test_no_such_role() -> None:
    with pytest.raises(GpuprovError, match="GP-CLOUD-040 gone: the account has no role gone"):
        profile_of(Iam([EC2], ["gpu"]), "gone")
