"""Networks are made in the account with boto3, and looked up as a spec means them."""

from typing import Any

import pytest

from gpuprov.cloud.account import Account
from gpuprov.cloud.decide.surroundings import ELSEWHERE, INTERNET
from gpuprov.cloud.networks_aws import find_network, find_services
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.cloud_network import ExistingNetworkSpec

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

ANYWHERE = "0.0.0.0/0"
TAGS = [{"Key": "role", "Value": "gpu"}]


class Site:
    """A VPC as somebody else made it: a public subnet with a NAT gateway, one behind it, and one that leads nowhere."""

    def __init__(self, ec2: Any) -> None:
        self.ec2 = ec2
        self.vpc = ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]
        self.gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        ec2.attach_internet_gateway(InternetGatewayId=self.gateway, VpcId=self.vpc)
        self.public = self.subnet(1, "a")
        address = ec2.allocate_address(Domain="vpc")["AllocationId"]
        nat = ec2.create_nat_gateway(SubnetId=self.public, AllocationId=address)["NatGateway"]["NatGatewayId"]
        self.private, self.closed = self.subnet(2, "a", tags=TAGS), self.subnet(3, "b")
        self.lead(self.public, GatewayId=self.gateway)
        self.lead(self.private, NatGatewayId=nat)

    def subnet(self, number: int, letter: str, *, vpc: str = "", tags: Any = None) -> str:
        made = self.ec2.create_subnet(
            VpcId=vpc or self.vpc,
            CidrBlock=f"10.7.{number}.0/24",
            AvailabilityZone=f"us-east-1{letter}",
            TagSpecifications=[{"ResourceType": "subnet", "Tags": tags}] if tags else [],
        )
        return str(made["Subnet"]["SubnetId"])

    def lead(self, subnet: str, **target: str) -> None:
        table = self.ec2.create_route_table(VpcId=self.vpc)["RouteTable"]["RouteTableId"]
        self.ec2.create_route(RouteTableId=table, DestinationCidrBlock=ANYWHERE, **target)
        self.ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)


@pytest.fixture
def site(ec2: Any) -> Site:
    return Site(ec2)


def test_subnets_are_told_in_the_specs_order_with_their_ways_out(site: Site) -> None:
    names = (site.closed, site.public, site.private)
    found = find_network(site.ec2, ExistingNetworkSpec(subnets=names))
    assert (found.vpc, found.cidrs) == (site.vpc, ("10.7.0.0/16",))
    assert [(subnet.id, subnet.way) for subnet in found.subnets] == [
        (site.closed, ""),
        (site.public, INTERNET),
        (site.private, ELSEWHERE),
    ]
    assert found.subnets[1].zone == "us-east-1a"
    assert found.subnets[0].free == 251


def test_a_subnet_without_a_table_goes_the_vpcs_main_way(site: Site) -> None:
    filters = [{"Name": "vpc-id", "Values": [site.vpc]}, {"Name": "association.main", "Values": ["true"]}]
    main = site.ec2.describe_route_tables(Filters=filters)["RouteTables"][0]["RouteTableId"]
    site.ec2.create_route(RouteTableId=main, DestinationCidrBlock=ANYWHERE, GatewayId=site.gateway)
    (closed,) = find_network(site.ec2, ExistingNetworkSpec(subnets=(site.closed,))).subnets
    assert closed.way == INTERNET


def test_tags_mean_all_that_have_them_and_no_other(site: Site) -> None:
    found = find_network(site.ec2, ExistingNetworkSpec(tags={"role": "gpu"}))
    assert [subnet.id for subnet in found.subnets] == [site.private]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"subnets": ("subnet-0123456789abcdef0",)}, "there is no subnet subnet-0123456789abcdef0"),
        ({"tags": {"role": "cpu"}}, "no subnet has the tags role=cpu"),
        ({"tags": {"role": "gpu"}, "vpc": "vpc-0123456789abcdef0"}, "no subnet in vpc-0123456789abcdef0 has the tags"),
    ],
)
def test_what_is_not_there_is_said(site: Site, asked: Any, says: str) -> None:
    with pytest.raises(GpuprovError, match=f"GP-CLOUD-030 targets.cloud.network.existing: {says}"):
        find_network(site.ec2, ExistingNetworkSpec(**asked))


def test_subnets_of_two_vpcs_are_no_network(site: Site) -> None:
    other = site.ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]
    site.subnet(9, "b", vpc=other, tags=TAGS)
    asked = ExistingNetworkSpec(tags={"role": "gpu"})
    with pytest.raises(GpuprovError, match=r"GP-CLOUD-031 .*the subnets are in 2 VPCs"):
        find_network(site.ec2, asked)
    assert len(find_network(site.ec2, ExistingNetworkSpec(tags=asked.tags, vpc=other)).subnets) == 1


def test_services_are_found_by_what_ends_their_names(
    account: Account, ec2: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from moto.core.base_backend import BaseBackend  # noqa: PLC0415 - after the server, which sets its variables
    from moto.ec2.models.vpcs import VPCBackend  # noqa: PLC0415 - the same

    make = BaseBackend.default_vpc_endpoint_service_factory
    rows = [row for name in ("ecr.api", "api", "sts") for row in make("us-east-1", ["us-east-1a"], name)]
    rows += make("us-east-1", ["us-east-1a"], "s3", "Gateway")
    rows[2]["ServiceName"] = f"cn.{rows[2]['ServiceName']}"
    monkeypatch.setattr(VPCBackend, "_collect_default_endpoint_services", lambda *_: rows)
    found = find_services(ec2, account.region, ("ecr.api", "sts", "s3", "no.such"))
    assert {name: service.name for name, service in found.items()} == {
        "ecr.api": "com.amazonaws.us-east-1.ecr.api",
        "sts": "cn.com.amazonaws.us-east-1.sts",
    }
    assert found["sts"].zones == ("us-east-1a",)


def test_a_spec_that_names_nothing_asks_nothing(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "_client", lambda _: None)
    assert account.surroundings().network is None
