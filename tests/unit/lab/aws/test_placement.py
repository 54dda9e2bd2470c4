"""Placement groups: the lab's account has them, and refuses as EC2 does."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from lab_account import IMAGE, TYPE, Cloud

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


def refused(call: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as caught:
        call()
    return str(caught.value.response["Error"]["Code"])


def launch(ec2: Any, subnet: str, *, type_: str = TYPE, group: str) -> str:
    made = ec2.run_instances(
        ImageId=IMAGE, InstanceType=type_, MinCount=1, MaxCount=1, SubnetId=subnet, Placement={"GroupName": group}
    )
    return str(made["Instances"][0]["InstanceId"])


def test_a_group_is_made_found_used_and_removed(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    tags = [{"ResourceType": "placement-group", "Tags": [{"Key": "role", "Value": "gpu"}]}]
    made = ec2.create_placement_group(GroupName="near", Strategy="cluster", TagSpecifications=tags)["PlacementGroup"]
    assert (made["GroupName"], made["Strategy"], made["State"]) == ("near", "cluster", "available")

    def tagged(value: str) -> list[str]:
        rows = ec2.describe_placement_groups(Filters=[{"Name": "tag:role", "Values": [value]}])["PlacementGroups"]
        return [row["GroupName"] for row in rows]

    assert (tagged("gpu"), tagged("cpu")) == (["near"], [])
    assert refused(lambda: ec2.create_placement_group(GroupName="near")) == "InvalidPlacementGroup.Duplicate"
    subnet = paper_cloud.subnet(ec2)
    instance = launch(ec2, subnet, group="near")
    shown = ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
    assert shown["Placement"]["GroupName"] == "near"
    assert refused(lambda: ec2.delete_placement_group(GroupName="near")) == "InvalidPlacementGroup.InUse"
    ec2.terminate_instances(InstanceIds=[instance])
    ec2.delete_placement_group(GroupName="near")
    gone = {"GroupNames": ["near"]}
    assert refused(lambda: ec2.describe_placement_groups(**gone)) == "InvalidPlacementGroup.Unknown"
    assert refused(lambda: ec2.delete_placement_group(GroupName="near")) == "InvalidPlacementGroup.Unknown"


def test_only_a_group_that_there_is_and_a_type_that_fits_are_taken(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    subnet = paper_cloud.subnet(ec2)
    assert refused(lambda: launch(ec2, subnet, group="near")) == "InvalidPlacementGroup.Unknown"
    ec2.create_placement_group(GroupName="near", Strategy="cluster")
    assert refused(lambda: launch(ec2, subnet, type_="t3.micro", group="near")) == "InvalidParameterCombination"
