"""What of an account fits into a stack's document, in moto's account."""

from typing import Any

import pytest
from cloud_builders import cloud_document, cloud_spec

from gpuprov.cloud.account import Account
from gpuprov.cloud.decide.names import role_name
from gpuprov.cloud.types import Document
from gpuprov.model.diagnostic import Diagnostic, GpuprovError

pytestmark = pytest.mark.slow  # starts AWS's stand-in: not for `make quick`


@pytest.fixture(scope="module")
def document() -> Document:
    """A stack with a network in one zone, 10.20.0.0/16, a role and a bucket `datasets`."""
    return cloud_document(cloud_spec())


def refused(ask: Any) -> Diagnostic:
    with pytest.raises(GpuprovError) as caught:
        ask()
    (told,) = caught.value.diagnostics
    assert told.code == "GP-CLOUD-075"
    assert "nothing was changed" in told.detail
    return told


def owned(key: str) -> list[dict[str, str]]:
    return [{"Key": "gpuprov:id", "Value": key}]


def test_a_bucket(account: Account, s3: Any, document: Document) -> None:
    s3.create_bucket(Bucket="ours")
    (found,) = account.importable_bucket(document, "datasets", "ours")
    assert (found.address, found.type, found.id) == ("bucket.datasets", "aws:s3/bucket:Bucket", "ours")
    s3.put_bucket_tagging(Bucket="ours", Tagging={"TagSet": owned("train/bucket/datasets")})
    (again,) = account.importable_bucket(document, "datasets", "ours")
    assert again.tags == {"gpuprov:id": "train/bucket/datasets"}, "its own tag is no other stack's"
    s3.put_bucket_tagging(Bucket="ours", Tagging={"TagSet": owned("other/bucket/datasets")})
    assert "another stack" in refused(lambda: account.importable_bucket(document, "datasets", "ours")).summary


def test_a_bucket_that_is_not_there_or_elsewhere(account: Account, s3: Any, document: Document) -> None:
    assert "no such bucket" in refused(lambda: account.importable_bucket(document, "datasets", "nobodys")).summary
    s3.create_bucket(Bucket="far", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    assert "eu-west-1" in refused(lambda: account.importable_bucket(document, "datasets", "far")).summary


@pytest.fixture
def vpc(ec2: Any) -> str:
    """A VPC of the document's range."""
    return str(ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"])


def test_a_network_with_its_gateway_and_a_subnet_that_is_the_documents(
    account: Account, ec2: Any, vpc: str, document: Document
) -> None:
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    same = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/19", AvailabilityZone="us-east-1a")["Subnet"]["SubnetId"]
    ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.96.0/24", AvailabilityZone="us-east-1d")
    found = account.importable_network(document, vpc)
    assert {one.address: one.id for one in found} == {
        "vpc.main": vpc,
        "gateway.main": gateway,
        "subnet.us-east-1a": same,
    }


@pytest.mark.parametrize(
    ("cidr", "zone", "bound", "said"),
    [
        ("10.20.1.0/24", "us-east-1a", "", "in the way"),
        ("10.20.0.0/19", "us-east-1b", "", "in the way"),
        ("10.20.0.0/19", "us-east-1a", "bound", "belongs to the route table"),
    ],
)
def test_a_subnet_that_is_in_the_way(
    account: Account, ec2: Any, vpc: str, document: Document, cidr: str, zone: str, bound: str, said: str
) -> None:
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZone=zone)["Subnet"]["SubnetId"]
    if bound:
        table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
        ec2.associate_route_table(SubnetId=subnet, RouteTableId=table)
    assert said in refused(lambda: account.importable_network(document, vpc)).summary


def test_a_network_that_is_not_there_or_another(account: Account, ec2: Any, document: Document) -> None:
    assert "no such VPC" in refused(lambda: account.importable_network(document, "vpc-0123456789abcdef0")).summary
    other = ec2.create_vpc(CidrBlock="10.21.0.0/16")["Vpc"]["VpcId"]
    assert "10.21.0.0/16" in refused(lambda: account.importable_network(document, other)).summary
    ec2.create_vpc(CidrBlock="10.20.0.0/16")
    without = {**document, "network": None}
    assert "makes no network" in refused(lambda: account.importable_network(without, other)).summary


def test_a_network_of_another_stack(account: Account, ec2: Any, vpc: str, document: Document) -> None:
    ec2.create_tags(Resources=[vpc], Tags=owned("other/vpc/main"))
    assert "other/vpc/main" in refused(lambda: account.importable_network(document, vpc)).summary


def test_a_role_with_its_profile(account: Account, iam: Any, document: Document) -> None:
    name = role_name("train", "us-east-1")
    assert "no such role" in refused(lambda: account.importable_role(document, name)).summary
    iam.create_role(RoleName=name, AssumeRolePolicyDocument="{}")
    assert [(one.address, one.id) for one in account.importable_role(document, name)] == [("role.main", name)]
    iam.create_instance_profile(InstanceProfileName=name)
    assert [one.address for one in account.importable_role(document, name)] == ["role.main", "instance_profile.main"]


def test_a_role_of_another_name(account: Account, document: Document) -> None:
    told = refused(lambda: account.importable_role(document, "theirs"))
    assert role_name("train", "us-east-1") in told.detail
    assert "pools.NAME.cloud.role" in told.hint
