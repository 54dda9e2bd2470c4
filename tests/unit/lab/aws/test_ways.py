"""Elastic addresses, NAT gateways and endpoints: the lab's account refuses and forgets as EC2 does."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from lab_account import Cloud

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

S3 = "com.amazonaws.us-east-1.s3"


def refused(call: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as caught:
        call()
    return str(caught.value.response["Error"]["Code"])


@pytest.fixture
def ec2(paper_cloud: Cloud) -> Any:
    return paper_cloud.client("ec2")


@pytest.fixture
def subnet(paper_cloud: Cloud, ec2: Any) -> str:
    return paper_cloud.subnet(ec2)


def vpc_of(ec2: Any, subnet: str) -> str:
    return str(ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["VpcId"])


def address(ec2: Any) -> str:
    return str(ec2.allocate_address(Domain="vpc")["AllocationId"])


def attached(ec2: Any, subnet: str) -> str:
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc_of(ec2, subnet))
    return str(gateway)


def nat(ec2: Any, subnet: str, allocation: str, **tags: str) -> dict[str, Any]:
    specification = [{"ResourceType": "natgateway", "Tags": [{"Key": k, "Value": v} for k, v in tags.items()]}]
    made = ec2.create_nat_gateway(
        SubnetId=subnet, AllocationId=allocation, TagSpecifications=specification if tags else []
    )["NatGateway"]
    found: dict[str, Any] = ec2.describe_nat_gateways(NatGatewayIds=[made["NatGatewayId"]])["NatGateways"][0]
    return found


def test_a_nat_gateway_needs_a_way_to_the_internet(ec2: Any, subnet: str) -> None:
    allocation = address(ec2)
    failed = nat(ec2, subnet, allocation)
    assert (failed["State"], failed["FailureCode"]) == ("failed", "Gateway.NotAttached")
    gateway = attached(ec2, subnet)
    made = nat(ec2, subnet, allocation)
    assert made["State"] == "available"
    assert made["NatGatewayAddresses"][0]["PrivateIp"].startswith("10.61.")
    detach = {"InternetGatewayId": gateway, "VpcId": vpc_of(ec2, subnet)}
    assert refused(lambda: ec2.detach_internet_gateway(**detach)) == "DependencyViolation"


def test_an_address_belongs_to_one_gateway_until_that_goes(ec2: Any, subnet: str) -> None:
    attached(ec2, subnet)
    allocation = address(ec2)
    made = nat(ec2, subnet, allocation)
    assert refused(lambda: nat(ec2, subnet, allocation)) == "Resource.AlreadyAssociated"
    assert refused(lambda: ec2.release_address(AllocationId=allocation)) == "InvalidIPAddress.InUse"
    assert refused(lambda: ec2.delete_subnet(SubnetId=subnet)) == "DependencyViolation"
    ec2.delete_nat_gateway(NatGatewayId=made["NatGatewayId"])
    ec2.release_address(AllocationId=allocation)
    ec2.delete_subnet(SubnetId=subnet)


def test_nat_gateways_are_asked_for_by_id_and_by_tag(ec2: Any, subnet: str) -> None:
    attached(ec2, subnet)
    made = nat(ec2, subnet, address(ec2), role="gpu")["NatGatewayId"]

    def tagged(value: str) -> list[str]:
        found = ec2.describe_nat_gateways(Filter=[{"Name": "tag:role", "Values": [value]}])["NatGateways"]
        return [row["NatGatewayId"] for row in found]

    assert (tagged("gpu"), tagged("cpu")) == ([made], [])
    unknown = "nat-0123456789abcdef0"
    assert refused(lambda: ec2.describe_nat_gateways(NatGatewayIds=[unknown])) == "NatGatewayNotFound"
    assert refused(lambda: ec2.delete_nat_gateway(NatGatewayId=unknown)) == "NatGatewayNotFound"


def test_a_gateway_endpoint_is_a_route_in_its_tables(ec2: Any, subnet: str) -> None:
    vpc = vpc_of(ec2, subnet)
    one, two = (ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"] for _ in range(2))

    def led() -> list[str]:
        rows = ec2.describe_route_tables(RouteTableIds=[one, two])["RouteTables"]
        return [r["RouteTableId"] for r in rows if any(x.get("GatewayId", "").startswith("vpce-") for x in r["Routes"])]

    made = ec2.create_vpc_endpoint(VpcId=vpc, ServiceName=S3, VpcEndpointType="Gateway", RouteTableIds=[one])
    endpoint = made["VpcEndpoint"]["VpcEndpointId"]
    assert led() == [one]
    ec2.modify_vpc_endpoint(VpcEndpointId=endpoint, AddRouteTableIds=[two], RemoveRouteTableIds=[one])
    assert led() == [two]
    assert refused(lambda: ec2.delete_vpc(VpcId=vpc)) == "DependencyViolation"
    for _ in range(2):  # what is gone already is no error
        ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint])
    assert led() == []
    missing = {"VpcEndpointIds": [endpoint]}
    assert refused(lambda: ec2.describe_vpc_endpoints(**missing)) == "InvalidVpcEndpointId.NotFound"
    assert endpoint not in [row["VpcEndpointId"] for row in ec2.describe_vpc_endpoints()["VpcEndpoints"]]


def test_an_interface_endpoint_has_an_interface_in_each_of_its_subnets(ec2: Any, subnet: str) -> None:
    vpc = vpc_of(ec2, subnet)
    group = ec2.create_security_group(GroupName="g", Description="g", VpcId=vpc)["GroupId"]
    made = ec2.create_vpc_endpoint(
        VpcId=vpc,
        ServiceName="com.amazonaws.us-east-1.ecr.api",
        VpcEndpointType="Interface",
        SubnetIds=[subnet],
        SecurityGroupIds=[group],
    )["VpcEndpoint"]
    filters = [{"Name": "subnet-id", "Values": [subnet]}]
    (interface,) = ec2.describe_network_interfaces(Filters=filters)["NetworkInterfaces"]
    assert [each["GroupId"] for each in interface["Groups"]] == [group]
    assert refused(lambda: ec2.delete_security_group(GroupId=group)) == "DependencyViolation"
    ec2.delete_vpc_endpoints(VpcEndpointIds=[made["VpcEndpointId"]])
    ec2.delete_security_group(GroupId=group)
    ec2.delete_subnet(SubnetId=subnet)


@pytest.mark.parametrize(("name", "kind"), [("com.amazonaws.us-east-1.gpu", "Interface"), (f"{S3}x", "Gateway")])
def test_a_service_that_aws_has_not_is_refused(ec2: Any, subnet: str, name: str, kind: str) -> None:
    asked = {"VpcId": vpc_of(ec2, subnet), "ServiceName": name, "VpcEndpointType": kind}
    assert refused(lambda: ec2.create_vpc_endpoint(**asked)) == "InvalidServiceName"
