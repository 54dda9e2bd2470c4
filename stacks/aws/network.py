"""The network of the hosts: VPC, subnets, the way to the internet, and the security group with its rules."""

from dataclasses import dataclass, field
from typing import Any

import pulumi
from document import Network, Rule, SecurityGroup
from pulumi_aws import ec2, vpc

_INTERNET = "0.0.0.0/0"


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeNetwork:
    """What hosts are put into."""

    subnets: dict[str, ec2.Subnet]
    group: ec2.SecurityGroup
    ways: list[pulumi.Resource] = field(default_factory=list)
    """What must be there before a host boots: its way out, and the rules that let gpuprov in."""


def make_network(network: Network, group: SecurityGroup) -> MadeNetwork:
    """Make the VPC with everything in it but the hosts."""
    main = ec2.Vpc(
        "vpc.main",
        cidr_block=network["cidr"],
        enable_dns_support=True,
        enable_dns_hostnames=True,
        tags=network["tags"],
    )
    table = ec2.RouteTable("route_table.main", vpc_id=main.id, tags=network["route_table"]["tags"])
    subnets: dict[str, ec2.Subnet] = {}
    ways: list[pulumi.Resource] = []
    for subnet in network["subnets"]:
        made = ec2.Subnet(
            f"subnet.{subnet['name']}",
            vpc_id=main.id,
            cidr_block=subnet["cidr"],
            availability_zone=subnet["zone"],
            map_public_ip_on_launch=False,  # each instance says so itself
            tags=subnet["tags"],
        )
        subnets[subnet["name"]] = made
        ways.append(
            ec2.RouteTableAssociation(
                f"route_table_association.{subnet['name']}", subnet_id=made.id, route_table_id=table.id
            )
        )
    if network["gateway"] is not None:
        gateway = ec2.InternetGateway("gateway.main", vpc_id=main.id, tags=network["gateway"]["tags"])
        # A resource of its own: routes inside the table would make the provider remove those that the site adds.
        ways.append(
            ec2.Route(
                "route.internet",
                route_table_id=table.id,
                destination_cidr_block=_INTERNET,
                gateway_id=gateway.id,
            )
        )
    made_group, rules = _make_group(group, main)
    return MadeNetwork(subnets=subnets, group=made_group, ways=[*ways, *rules])


def _make_group(group: SecurityGroup, main: ec2.Vpc) -> tuple[ec2.SecurityGroup, list[pulumi.Resource]]:
    made = ec2.SecurityGroup(
        "security_group.main",
        name=group["name"],
        description=group["description"],
        vpc_id=main.id,
        tags=group["tags"],
        # AWS cannot change it, and a new group of this name cannot come before the old one went.
        opts=pulumi.ResourceOptions(ignore_changes=["description"]),
    )
    ingress = [
        vpc.SecurityGroupIngressRule(f"ingress.{rule['name']}", **_rule(rule, made)) for rule in group["ingress"]
    ]
    egress = [vpc.SecurityGroupEgressRule(f"egress.{rule['name']}", **_rule(rule, made)) for rule in group["egress"]]
    return made, [*ingress, *egress]


def _rule(rule: Rule, group: ec2.SecurityGroup) -> dict[str, Any]:
    return {
        "security_group_id": group.id,
        "description": rule["description"],
        "ip_protocol": rule["protocol"],
        "from_port": rule["from_port"],
        "to_port": rule["to_port"],
        "cidr_ipv4": rule["cidr"],
        "referenced_security_group_id": group.id if rule["members"] else None,
        "tags": rule["tags"],
    }
