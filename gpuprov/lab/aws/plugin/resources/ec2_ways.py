"""Elastic address, NAT gateway and VPC endpoint."""
# ruff: noqa: ARG002 (each handler takes what the protocol in handler.py gives it)

from collections.abc import Mapping, Sequence
from typing import Any

from gpuprov.lab.aws.plugin.cloud import Call, absent, gone, tag_map
from gpuprov.lab.aws.plugin.errors import ProviderError
from gpuprov.lab.aws.plugin.resources.handler import (
    DEPENDENCY_SECONDS,
    Known,
    Values,
    changed,
    tag_outputs,
    tag_specification,
    update_ec2_tags,
)

_NO_ADDRESS = ("InvalidAllocationID.NotFound",)
_NO_NAT = ("NatGatewayNotFound",)
_NO_ENDPOINT = ("InvalidVpcEndpointId.NotFound",)
_ENDED = {"deleting", "deleted"}


class Eip:
    """aws:ec2/eip:Eip."""

    noun = "EC2 EIP"

    def create(self, call: Call, inputs: Known) -> None:
        """AllocateAddress."""
        made = call.ec2(
            "allocate_address",
            Domain=inputs.get("domain"),
            TagSpecifications=tag_specification("elastic-ip", inputs.get("tags")),
        )
        call.made = str(made["AllocationId"])

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeAddresses."""
        found = absent(lambda: call.ec2("describe_addresses", AllocationIds=[identity])["Addresses"], _NO_ADDRESS)
        if not found:
            return None
        row = found[0]
        return {
            "allocationId": identity,
            "arn": call.arn("ec2", f"elastic-ip/{identity}"),
            "associationId": row.get("AssociationId"),
            "domain": row["Domain"],
            "networkInterface": row.get("NetworkInterfaceId"),
            "privateIp": row.get("PrivateIpAddress"),
            "publicIp": row["PublicIp"],
            "region": call.region,
            **tag_outputs(tag_map(row.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """Tags; the rest makes another one."""
        update_ec2_tags(call, identity, olds.get("tags"), news.get("tags"))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """ReleaseAddress, once nothing has it."""
        gone(lambda: call.ec2("release_address", AllocationId=identity), _NO_ADDRESS)


class NatGateway:
    """aws:ec2/natGateway:NatGateway."""

    noun = "EC2 NAT Gateway"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateNatGateway, then wait until it is available."""
        made = call.ec2(
            "create_nat_gateway",
            SubnetId=inputs["subnetId"],
            AllocationId=inputs.get("allocationId"),
            ConnectivityType=inputs.get("connectivityType"),
            TagSpecifications=tag_specification("natgateway", inputs.get("tags")),
        )
        identity = str(made["NatGateway"]["NatGatewayId"])
        call.made = identity
        call.wait(lambda: self._available(call, identity), doing=f"waiting for EC2 NAT Gateway ({identity}) create")

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeNatGateways; a deleted one is listed for an hour, and gone."""
        row = _nat(call, identity)
        if row is None or row["State"] in _ENDED:
            return None
        address: Mapping[str, Any] = next(iter(row.get("NatGatewayAddresses", [])), {})
        return {
            "allocationId": address.get("AllocationId"),
            "associationId": address.get("AssociationId"),
            "connectivityType": row["ConnectivityType"],
            "networkInterfaceId": address.get("NetworkInterfaceId"),
            "privateIp": address.get("PrivateIp"),
            "publicIp": address.get("PublicIp"),
            "subnetId": row["SubnetId"],
            "region": call.region,
            **tag_outputs(tag_map(row.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """Tags; the rest makes another one."""
        update_ec2_tags(call, identity, olds.get("tags"), news.get("tags"))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteNatGateway, and wait until it is deleted."""
        gone(lambda: call.ec2("delete_nat_gateway", NatGatewayId=identity), _NO_NAT)
        call.wait(
            lambda: True if (row := _nat(call, identity)) is None or row["State"] == "deleted" else None,
            doing=f"waiting for EC2 NAT Gateway ({identity}) delete",
        )

    @staticmethod
    def _available(call: Call, identity: str) -> bool | None:
        """Whether it is available; None while it is not yet.

        Raises:
            ProviderError: it failed.
        """
        row = _nat(call, identity)
        state = "pending" if row is None else row["State"]
        if row is not None and state not in {"pending", "available"}:
            why = f"{row.get('FailureCode')}: {row.get('FailureMessage')}"
            raise ProviderError(
                f"waiting for EC2 NAT Gateway ({identity}) create: unexpected state '{state}', wanted target "
                f"'available'. last error: {why}"
            )
        return True if state == "available" else None


class VpcEndpoint:
    """aws:ec2/vpcEndpoint:VpcEndpoint."""

    noun = "EC2 VPC Endpoint"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateVpcEndpoint, then wait until it is available."""
        made = call.ec2(
            "create_vpc_endpoint",
            VpcId=inputs["vpcId"],
            ServiceName=inputs["serviceName"],
            VpcEndpointType=inputs["vpcEndpointType"],
            RouteTableIds=inputs.get("routeTableIds"),
            SubnetIds=inputs.get("subnetIds"),
            SecurityGroupIds=inputs.get("securityGroupIds"),
            PrivateDnsEnabled=bool(inputs.get("privateDnsEnabled")),
            TagSpecifications=tag_specification("vpc-endpoint", inputs.get("tags")),
        )
        identity = str(made["VpcEndpoint"]["VpcEndpointId"])
        call.made = identity
        call.wait(
            lambda: True if (row := _endpoint(call, identity)) and row["State"] == "available" else None,
            doing=f"waiting for EC2 VPC Endpoint ({inputs['serviceName']}) create",
        )

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeVpcEndpoints."""
        row = _endpoint(call, identity)
        if row is None:
            return None
        return {
            "arn": call.arn("ec2", f"vpc-endpoint/{identity}"),
            "networkInterfaceIds": row.get("NetworkInterfaceIds", []),
            "privateDnsEnabled": bool(row.get("PrivateDnsEnabled")),
            "routeTableIds": row.get("RouteTableIds", []),
            "securityGroupIds": [group["GroupId"] for group in row.get("Groups", [])],
            "serviceName": row["ServiceName"],
            "state": row["State"],
            "subnetIds": row.get("SubnetIds", []),
            "vpcEndpointType": row["VpcEndpointType"],
            "vpcId": row["VpcId"],
            "region": call.region,
            **tag_outputs(tag_map(row.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """ModifyVpcEndpoint with what comes and goes, and tags."""
        asked: Values = {}
        for name, kind in (
            ("routeTableIds", "RouteTableIds"),
            ("subnetIds", "SubnetIds"),
            ("securityGroupIds", "SecurityGroupIds"),
        ):
            if changed(name, olds, news) and news.get(name) is not None:
                asked[f"Add{kind}"] = _beyond(news[name], olds.get(name, []))
                asked[f"Remove{kind}"] = _beyond(olds.get(name, []), news[name])
        if changed("privateDnsEnabled", olds, news) and news.get("privateDnsEnabled") is not None:
            asked["PrivateDnsEnabled"] = news["privateDnsEnabled"]
        if any(value is not None for value in asked.values()):
            call.ec2("modify_vpc_endpoint", VpcEndpointId=identity, **asked)
        update_ec2_tags(call, identity, olds.get("tags"), news.get("tags"))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteVpcEndpoints, which answers with what it could not do, and wait until it is gone."""
        call.retry(
            lambda: gone(lambda: call.ec2("delete_vpc_endpoints", VpcEndpointIds=[identity]), _NO_ENDPOINT),
            while_code="DependencyViolation",
            seconds=DEPENDENCY_SECONDS,
        )
        call.wait(
            lambda: True if _endpoint(call, identity) is None else None,
            doing=f"waiting for EC2 VPC Endpoint ({identity}) delete",
        )


def _beyond(these: Sequence[str], those: Sequence[str]) -> list[str] | None:
    """Return what is in one list and not in another; None for nothing."""
    return [each for each in these if each not in those] or None


def _nat(call: Call, identity: str) -> Mapping[str, Any] | None:
    """Return a NAT gateway as AWS describes it."""
    found = absent(lambda: call.ec2("describe_nat_gateways", NatGatewayIds=[identity])["NatGateways"], _NO_NAT)
    return found[0] if found else None


def _endpoint(call: Call, identity: str) -> Mapping[str, Any] | None:
    """Return an endpoint as AWS describes it; None for one that is going."""
    found = absent(lambda: call.ec2("describe_vpc_endpoints", VpcEndpointIds=[identity])["VpcEndpoints"], _NO_ENDPOINT)
    return found[0] if found and found[0]["State"] not in _ENDED else None
