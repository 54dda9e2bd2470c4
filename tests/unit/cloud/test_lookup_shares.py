"""File systems and their mount targets, as recovery finds them in an account."""

from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gpuprov.cloud.account import Account
from gpuprov.cloud.decide.natural_keys import recovery_key
from gpuprov.cloud.lookup import tagged_shares
from gpuprov.model.diagnostic import GpuprovError

pytestmark = pytest.mark.slow  # starts AWS's stand-in: not for `make quick`

SHARE, TARGET = "aws:efs/fileSystem:FileSystem", "aws:efs/mountTarget:MountTarget"


def make(efs: Any, token: str, **tags: str) -> str:
    given = [{"Key": key.replace("_", ":"), "Value": value} for key, value in tags.items()]
    identity: str = efs.create_file_system(CreationToken=token, Tags=given)["FileSystemId"]
    return identity


def test_a_file_system_is_found_by_its_id_among_more_than_a_page_and_two_are_told(account: Account) -> None:
    efs = account._client("efs")
    for number in range(12):
        make(efs, f"other-{number}", gpuprov_id=f"train/share/{number}x")
    assert account.find(SHARE, "train/share/data") is None
    ours = make(efs, "ours", gpuprov_id="train/share/data", gpuprov_spec="train")
    assert account.find(SHARE, "train/share/data") == ours
    assert dict(tagged_shares(account._client))[ours] == {"gpuprov:id": "train/share/data", "gpuprov:spec": "train"}
    make(efs, "again", gpuprov_id="train/share/data")
    with pytest.raises(GpuprovError) as raised:
        account.find(SHARE, "train/share/data")
    assert raised.value.diagnostics[0].code == "GP-CLOUD-015"


def test_a_mount_target_is_found_by_what_it_joins(account: Account, ec2: Any) -> None:
    efs = account._client("efs")
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    share = make(efs, "ours")
    key = recovery_key(TARGET, {"fileSystemId": share, "subnetId": subnet})
    assert key is not None
    assert account.find(TARGET, key) is None
    target = efs.create_mount_target(FileSystemId=share, SubnetId=subnet)["MountTargetId"]
    assert account.find(TARGET, key) == target
    assert account.find(TARGET, f"{share}/subnet-0") is None
    assert account.find(TARGET, f"fs-00000000/{subnet}") is None


@pytest.mark.parametrize(("code", "denied"), [("AccessDeniedException", True), ("ThrottlingException", False)])
def test_who_may_not_list_file_systems_has_made_none(code: str, *, denied: bool) -> None:
    class Efs:
        exceptions = SimpleNamespace(ClientError=ClientError)

        def get_paginator(self, name: str) -> Any:
            raise ClientError({"Error": {"Code": code}}, name)

    if denied:
        assert [*tagged_shares(lambda _service: Efs())] == []
    else:
        with pytest.raises(ClientError):
            [*tagged_shares(lambda _service: Efs())]
