from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from lab_account import CIDR, Cloud

from gpuprov.lab.aws.securitygroups import Rule
from gpuprov.lab.command import failure

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


def refused(call: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as caught:
        call()
    return str(caught.value.response["Error"]["Code"])


@pytest.fixture
def ec2(paper_cloud: Cloud) -> Any:
    return paper_cloud.client("ec2")


def permission(port: int, **side: Any) -> list[dict[str, Any]]:
    return [{"IpProtocol": "tcp", "FromPort": port, "ToPort": port, **side}]


def test_a_vpc_has_a_router_for_as_long_as_it_is(paper_cloud: Cloud, ec2: Any) -> None:
    vpc = ec2.create_vpc(CidrBlock=CIDR)["Vpc"]["VpcId"]
    assert paper_cloud.network.vpcs == {vpc: CIDR}
    ec2.delete_vpc(VpcId=vpc)
    assert paper_cloud.network.vpcs == {}
    paper_cloud.client("ec2", region="us-west-2").create_vpc(CidrBlock=CIDR)
    assert paper_cloud.network.vpcs == {}, "another region has no machines"


def test_a_vpc_that_cannot_be_made_is_not_there(paper_cloud: Cloud, ec2: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def make_vpc(vpc_id: str, cidr: str) -> None:
        raise failure("the range is in use")

    before = ec2.describe_vpcs()["Vpcs"]
    monkeypatch.setattr(paper_cloud.network, "make_vpc", make_vpc)
    with pytest.raises(ClientError, match=r"gpuprov lab: the network .* cannot be made .* the range is in use"):
        ec2.create_vpc(CidrBlock=CIDR)
    assert ec2.describe_vpcs()["Vpcs"] == before


def test_rules_hold_for_members_and_follow_every_change(paper_cloud: Cloud, ec2: Any) -> None:
    subnet = paper_cloud.subnet(ec2)
    vpc = next(iter(paper_cloud.network.vpcs))

    def rules(instance: str) -> tuple[Any, ...]:
        return tuple(paper_cloud.network.rules[vpc][instance].ingress)

    web = ec2.create_security_group(GroupName="web", Description="web", VpcId=vpc)["GroupId"]
    data = ec2.create_security_group(GroupName="data", Description="data", VpcId=vpc)["GroupId"]
    ranges = {"IpRanges": [{"CidrIp": "192.0.2.0/24", "Description": "office"}]}
    ec2.authorize_security_group_ingress(GroupId=web, IpPermissions=permission(443, **ranges))
    from_web = {"UserIdGroupPairs": [{"GroupId": web}]}
    ec2.authorize_security_group_ingress(GroupId=data, IpPermissions=permission(5432, **from_web))
    first = paper_cloud.run(ec2, subnet, SecurityGroupIds=[web])
    second = paper_cloud.run(ec2, subnet, SecurityGroupIds=[data])
    for instance in (first, second):
        paper_cloud.settle(instance)
    address = paper_cloud.row(ec2, first)["PrivateIpAddress"]
    office = Rule(protocol="tcp", from_port=443, to_port=443, cidr="192.0.2.0/24")
    assert rules(first) == (office,)
    assert rules(second) == (Rule(protocol="tcp", from_port=5432, to_port=5432, cidr=f"{address}/32"),)
    everywhere = Rule(protocol="-1", from_port=None, to_port=None, cidr="0.0.0.0/0")
    assert tuple(paper_cloud.network.rules[vpc][first].egress) == (everywhere,)

    ec2.modify_instance_attribute(InstanceId=second, Groups=[web])
    assert rules(second) == (office,)
    ec2.revoke_security_group_ingress(GroupId=web, IpPermissions=permission(443, **ranges))
    assert (rules(first), rules(second)) == ((), ())
    ec2.terminate_instances(InstanceIds=[first])
    paper_cloud.settle(first)
    assert set(paper_cloud.network.rules[vpc]) == {second}


def test_what_is_in_use_cannot_go(paper_cloud: Cloud, ec2: Any) -> None:
    subnet = paper_cloud.subnet(ec2)
    vpc = next(iter(paper_cloud.network.vpcs))
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    group = ec2.create_security_group(GroupName="web", Description="web", VpcId=vpc)["GroupId"]
    other = ec2.create_security_group(GroupName="data", Description="data", VpcId=vpc)["GroupId"]
    ec2.authorize_security_group_ingress(
        GroupId=other, IpPermissions=permission(1, UserIdGroupPairs=[{"GroupId": group}])
    )
    instance = paper_cloud.run(ec2, subnet, SecurityGroupIds=[other])
    detach = {"InternetGatewayId": gateway, "VpcId": vpc}
    for call in (
        lambda: ec2.delete_security_group(GroupId=group),
        lambda: ec2.delete_security_group(GroupId=other),
        lambda: ec2.delete_subnet(SubnetId=subnet),
        lambda: ec2.detach_internet_gateway(**detach),
        lambda: ec2.delete_vpc(VpcId=vpc),
    ):
        assert refused(call) == "DependencyViolation"
    ec2.terminate_instances(InstanceIds=[instance])
    paper_cloud.settle(instance)
    ec2.delete_security_group(GroupId=other)
    ec2.delete_subnet(SubnetId=subnet)
    assert refused(lambda: ec2.delete_vpc(VpcId=vpc)) == "DependencyViolation"
    ec2.delete_security_group(GroupId=group)
    assert refused(lambda: ec2.delete_vpc(VpcId=vpc)) == "DependencyViolation"
    ec2.detach_internet_gateway(**detach)
    ec2.delete_vpc(VpcId=vpc)
    assert paper_cloud.network.vpcs == {}


def test_prefix_lists_are_refused_since_nothing_would_enforce_them(paper_cloud: Cloud, ec2: Any) -> None:
    vpc = ec2.create_vpc(CidrBlock=CIDR)["Vpc"]["VpcId"]
    group = ec2.create_security_group(GroupName="web", Description="web", VpcId=vpc)["GroupId"]
    listed = {"PrefixListIds": [{"PrefixListId": "pl-0123456789abcdef0"}]}
    code = refused(lambda: ec2.authorize_security_group_egress(GroupId=group, IpPermissions=permission(443, **listed)))
    assert code == "Unsupported"
