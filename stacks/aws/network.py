"""The network of the hosts: VPC, subnets, the ways out, and the security group with its rules."""

from dataclasses import dataclass, field
from typing import Any

import pulumi
from document import Network, Rule, SecurityGroup, Subnet
from pulumi_aws import ec2, vpc
from ways import ANYWHERE, Id, MadeWays, make_endpoints, make_nat


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeNetwork:
    """What hosts are put into."""

    vpc: Id
    subnets: dict[str, Id]
    """Zone -> id."""
    group: ec2.SecurityGroup
    ways: list[pulumi.Resource] = field(default_factory=list)
    """What must be there before a host boots: its way out, and the rules that let gpuprov in."""


def make_network(network: Network, group: SecurityGroup) -> MadeNetwork:
    """Make the VPC with everything in it but the hosts; in one that is there, only the security group."""
    if network["vpc"] is not None:
        made_group, rules = _make_group(group, network["vpc"])
        there: dict[str, Id] = {subnet["name"]: subnet["id"] or "" for subnet in network["subnets"]}
        return MadeNetwork(vpc=network["vpc"], subnets=there, group=made_group, ways=rules)
    main = ec2.Vpc(
        "vpc.main",
        cidr_block=network["cidr"],
        enable_dns_support=True,
        enable_dns_hostnames=True,
        tags=network["tags"],
    )
    made_group, rules = _make_group(group, main.id)
    ways = _make_ways(network, main.id)
    subnets: dict[str, Id] = {}
    joined: list[pulumi.Resource] = []
    for subnet in network["subnets"]:
        made = _make_subnet(subnet, main.id)
        subnets[subnet["name"]] = made.id
        table = ways.tables.get(subnet["zone"], ways.main)
        joined.append(
            ec2.RouteTableAssociation(
                f"route_table_association.{subnet['name']}", subnet_id=made.id, route_table_id=table
            )
        )
    endpoints = make_endpoints(network["endpoints"], main.id, subnets, ways, made_group.id)
    return MadeNetwork(vpc=main.id, subnets=subnets, group=made_group, ways=[*joined, *ways.routes, *endpoints, *rules])


def _make_ways(network: Network, main: Id) -> MadeWays:
    tags = network["route_table"]["tags"] if network["route_table"] else {}
    table = ec2.RouteTable("route_table.main", vpc_id=main, tags=tags)
    if network["gateway"] is None:
        return MadeWays(main=table.id)
    gateway = ec2.InternetGateway("gateway.main", vpc_id=main, tags=network["gateway"]["tags"])
    # A resource of its own: routes inside the table would make the provider remove those that the site adds.
    internet = ec2.Route(
        "route.internet", route_table_id=table.id, destination_cidr_block=ANYWHERE, gateway_id=gateway.id
    )
    if not network["nats"]:
        return MadeWays(main=table.id, routes=[internet])
    nats = {nat["zone"]: make_nat(nat, main, table.id, internet) for nat in network["nats"]}
    return MadeWays(
        main=table.id,
        tables={zone: made for zone, (made, _) in nats.items()},
        routes=[route for _, route in nats.values()],
    )


def _make_subnet(subnet: Subnet, main: Id) -> ec2.Subnet:
    return ec2.Subnet(
        f"subnet.{subnet['name']}",
        vpc_id=main,
        cidr_block=subnet["cidr"],
        availability_zone=subnet["zone"],
        map_public_ip_on_launch=False,  # each instance says so itself
        tags=subnet["tags"],
    )


def _make_group(group: SecurityGroup, main: Id) -> tuple[ec2.SecurityGroup, list[pulumi.Resource]]:
    made = ec2.SecurityGroup(
        "security_group.main",
        name=group["name"],
        description=group["description"],
        vpc_id=main,
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
