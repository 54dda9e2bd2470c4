"""Resources are made in the account with boto3, and found by the key that the state would hold."""

import re
from pathlib import Path
from typing import Any

import pytest

from gpuprov.cloud import lookup
from gpuprov.cloud.account import Account
from gpuprov.cloud.lookup_natural import FINDERS
from gpuprov.model.diagnostic import GpuprovError

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

KEY = "train/main/one"


def tags(kind: str) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": [{"Key": "gpuprov:id", "Value": KEY}]}]


def make_all(ec2: Any) -> dict[str, str]:
    """One of each kind that is found by its tag: type token -> physical id."""
    vpc = ec2.create_vpc(CidrBlock="10.7.0.0/16", TagSpecifications=tags("vpc"))["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.7.1.0/24", TagSpecifications=tags("subnet"))["Subnet"]
    gateway = ec2.create_internet_gateway(TagSpecifications=tags("internet-gateway"))["InternetGateway"]
    table = ec2.create_route_table(VpcId=vpc, TagSpecifications=tags("route-table"))["RouteTable"]
    group = ec2.create_security_group(
        GroupName="g", Description="g", VpcId=vpc, TagSpecifications=tags("security-group")
    )
    rule = {"GroupId": group["GroupId"], "TagSpecifications": tags("security-group-rule")}
    permission = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "203.0.113.0/24"}]}
    ingress = ec2.authorize_security_group_ingress(IpPermissions=[permission], **rule)["SecurityGroupRules"][0]
    address = ec2.allocate_address(Domain="vpc", TagSpecifications=tags("elastic-ip"))
    nat = ec2.create_nat_gateway(
        SubnetId=subnet["SubnetId"], AllocationId=address["AllocationId"], TagSpecifications=tags("natgateway")
    )["NatGateway"]
    endpoint = ec2.create_vpc_endpoint(
        VpcId=vpc,
        ServiceName="com.amazonaws.us-east-1.s3",
        VpcEndpointType="Gateway",
        TagSpecifications=tags("vpc-endpoint"),
    )["VpcEndpoint"]
    volume = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1, TagSpecifications=tags("volume"))
    return {
        "aws:ec2/vpc:Vpc": vpc,
        "aws:ec2/subnet:Subnet": subnet["SubnetId"],
        "aws:ec2/internetGateway:InternetGateway": gateway["InternetGatewayId"],
        "aws:ec2/routeTable:RouteTable": table["RouteTableId"],
        "aws:ec2/eip:Eip": address["AllocationId"],
        "aws:ec2/natGateway:NatGateway": nat["NatGatewayId"],
        "aws:ec2/vpcEndpoint:VpcEndpoint": endpoint["VpcEndpointId"],
        "aws:ec2/securityGroup:SecurityGroup": group["GroupId"],
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": ingress["SecurityGroupRuleId"],
        "aws:ebs/volume:Volume": volume["VolumeId"],
    }


def test_each_kind_is_found_by_its_tag_and_no_other(account: Account, ec2: Any) -> None:
    made = make_all(ec2)
    assert {token: account.find(token, KEY) for token in made} == made
    assert all(account.find(token, KEY + "x") is None for token in made)


def test_roles_profiles_and_buckets_are_found_by_their_tags_too(account: Account, iam: Any, s3: Any) -> None:
    own, other = [{"Key": "gpuprov:id", "Value": KEY}], [{"Key": "gpuprov:id", "Value": "other"}]
    kinds = ("aws:iam/role:Role", "aws:iam/instanceProfile:InstanceProfile", "aws:s3/bucket:Bucket")
    trust = '{"Version": "2012-10-17", "Statement": []}'
    # Every role of ours begins alike: somebody else's is not even looked at, for which an operator may have no right.
    for name, tag in (("gpuprov-theirs", other), ("gpuprov-ours", own)):
        assert [account.find(kind, KEY) for kind in kinds] == [None] * 3
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust, Tags=tag)
        iam.create_instance_profile(InstanceProfileName=name, Tags=tag)
        s3.create_bucket(Bucket=name)
        s3.put_bucket_tagging(Bucket=name, Tagging={"TagSet": tag})
    s3.create_bucket(Bucket="without-tags")
    iam.create_role(RoleName="copied", AssumeRolePolicyDocument=trust, Tags=own)
    iam.create_instance_profile(InstanceProfileName="copied", Tags=own)
    assert [account.find(kind, KEY) for kind in kinds] == ["gpuprov-ours"] * 3


def test_two_of_one_kind_are_refused_by_name(account: Account, ec2: Any) -> None:
    ids = [
        ec2.create_volume(AvailabilityZone="us-east-1a", Size=1, TagSpecifications=tags("volume"))["VolumeId"]
        for _ in range(2)
    ]
    with pytest.raises(GpuprovError) as caught:
        account.find("aws:ebs/volume:Volume", KEY)
    found = caught.value.diagnostics[0]
    assert (found.code, found.address) == ("GP-CLOUD-015", KEY)
    assert all(one in found.summary for one in ids)


def test_a_terminated_instance_does_not_count(account: Account, ec2: Any, image_id: str) -> None:
    def run() -> str:
        answer = ec2.run_instances(ImageId=image_id, MinCount=1, MaxCount=1, TagSpecifications=tags("instance"))
        return str(answer["Instances"][0]["InstanceId"])

    first = run()
    assert account.find("aws:ec2/instance:Instance", KEY) == first
    ec2.terminate_instances(InstanceIds=[first])
    assert account.find("aws:ec2/instance:Instance", KEY) is None
    second = run()
    assert account.find("aws:ec2/instance:Instance", KEY) == second


def test_a_kind_that_nobody_can_find_is_said_to_be_one(account: Account) -> None:
    with pytest.raises(GpuprovError) as caught:
        account.find("aws:fsx/lustreFileSystem:LustreFileSystem", KEY)
    assert caught.value.diagnostics[0].code == "GP-CLOUD-015"


def test_every_kind_that_the_stack_uses_can_be_found() -> None:
    """The list is the contract of stacks/aws; a kind that is added there must be found after a killed run."""
    from gpuprov.cloud.decide.natural_keys import NATURAL_KEYS  # noqa: PLC0415

    assert set(NATURAL_KEYS) == set(FINDERS)
    golden = (Path(__file__).parents[2] / "golden" / "stack-urns.txt").read_text(encoding="utf-8")
    used = set(re.findall(r"::(aws:[^:]+:\w+)::", golden))
    assert used
    assert used <= set(lookup._EC2) | set(lookup._BY_KEY)
