"""Ways out of a network of our own: NAT gateways, and endpoints of AWS's services."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
from document import Endpoint, Nat
from pulumi_aws import ec2

ANYWHERE = "0.0.0.0/0"
Id = pulumi.Input[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeWays:
    """Route tables, and what must be there before a host boots."""

    main: Id
    """The table with the way to the internet, where there is one."""
    tables: dict[str, Id] = field(default_factory=dict)
    """Zone -> the table of its hosts, where that is another one."""
    routes: list[pulumi.Resource] = field(default_factory=list)


def make_nat(nat: Nat, main: Id, public: Id, internet: ec2.Route) -> tuple[Id, ec2.Route]:
    """Make a zone's NAT gateway; returns the route table of the zone's hosts, and its route out.

    Args:
        nat: the document's.
        main: the VPC.
        public: the route table that leads to the internet.
        internet: its route: a NAT gateway that is made before it fails.
    """
    zone = nat["zone"]
    subnet = ec2.Subnet(
        f"subnet.nat/{zone}",
        vpc_id=main,
        cidr_block=nat["cidr"],
        availability_zone=zone,
        map_public_ip_on_launch=False,
        tags=nat["subnet_tags"],
    )
    joined = ec2.RouteTableAssociation(
        f"route_table_association.nat/{zone}", subnet_id=subnet.id, route_table_id=public
    )
    address = ec2.Eip(f"elastic_ip.{zone}", domain="vpc", tags=nat["address_tags"])
    gateway = ec2.NatGateway(
        f"nat_gateway.{zone}",
        subnet_id=subnet.id,
        allocation_id=address.id,
        tags=nat["tags"],
        # Its address can belong to one gateway at a time.
        opts=pulumi.ResourceOptions(depends_on=[internet, joined], delete_before_replace=True),
    )
    table = ec2.RouteTable(f"route_table.{zone}", vpc_id=main, tags=nat["route_table_tags"])
    route = ec2.Route(
        f"route.{zone}", route_table_id=table.id, destination_cidr_block=ANYWHERE, nat_gateway_id=gateway.id
    )
    return table.id, route


def make_endpoints(
    endpoints: Sequence[Endpoint], main: Id, subnets: Mapping[str, Id], ways: MadeWays, group: Id
) -> list[pulumi.Resource]:
    """Make the endpoints: interfaces in the hosts' subnets and group, or a route to S3 in each of their tables."""
    tables = [ways.main, *ways.tables.values()]
    made: list[pulumi.Resource] = []
    for endpoint in endpoints:
        interface = endpoint["interface"]
        made.append(
            ec2.VpcEndpoint(
                f"endpoint.{endpoint['name']}",
                vpc_id=main,
                service_name=endpoint["service"],
                vpc_endpoint_type="Interface" if interface else "Gateway",
                route_table_ids=None if interface else tables,
                subnet_ids=[subnets[zone] for zone in endpoint["zones"]] if interface else None,
                security_group_ids=[group] if interface else None,
                private_dns_enabled=True if interface else None,
                tags=endpoint["tags"],
            )
        )
    return made
