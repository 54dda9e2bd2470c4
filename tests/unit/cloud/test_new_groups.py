"""A security group whose making was cut off lets nothing out but what the stack says."""

from typing import Any

import pytest

from gpuprov.cloud.account import Account
from gpuprov.cloud.new_groups import GROUP

pytestmark = pytest.mark.slow  # starts AWS's stand-in: not for `make quick`
_OPEN = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}


@pytest.fixture
def group(ec2: Any) -> str:
    """A group as EC2 makes it."""
    vpc = ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]
    return str(ec2.create_security_group(GroupName="gpuprov-train", Description="hosts", VpcId=vpc)["GroupId"])


def outwards(ec2: Any, group: str) -> list[tuple[str, str]]:
    found = ec2.describe_security_group_rules(Filters=[{"Name": "group-id", "Values": [group]}])["SecurityGroupRules"]
    return [(rule["IpProtocol"], rule["CidrIpv4"]) for rule in found if rule["IsEgress"]]


def test_ec2s_own_rule_goes_and_a_second_time_there_is_none(account: Account, ec2: Any, group: str) -> None:
    assert outwards(ec2, group) == [("-1", "0.0.0.0/0")]
    for _ in range(2):
        account.taken_over(GROUP, group)
        assert outwards(ec2, group) == []


def test_a_rule_of_the_stack_stays(account: Account, ec2: Any, group: str) -> None:
    ec2.revoke_security_group_egress(GroupId=group, IpPermissions=[_OPEN])
    ours = [{"ResourceType": "security-group-rule", "Tags": [{"Key": "gpuprov:id", "Value": "train/egress/all"}]}]
    ec2.authorize_security_group_egress(GroupId=group, IpPermissions=[_OPEN], TagSpecifications=ours)
    account.taken_over(GROUP, group)
    assert outwards(ec2, group) == [("-1", "0.0.0.0/0")]


def test_other_types_are_left_alone(account: Account, ec2: Any, group: str) -> None:
    account.taken_over("aws:ec2/vpc:Vpc", group)
    assert outwards(ec2, group) == [("-1", "0.0.0.0/0")]
