"""How hosts reach out of a network of our own: NAT gateways, and endpoints of AWS's services."""

from collections.abc import Collection, Mapping
from ipaddress import IPv4Network
from typing import Final

from gpuprov.cloud.decide.refusals import refuse
from gpuprov.cloud.decide.surroundings import FoundService
from gpuprov.cloud.decide.tags import Owner, tags
from gpuprov.cloud.decide.zones import ZONE_LETTERS, subnet_cidr
from gpuprov.spec.cloud import CloudNetworkSpec

NAT: Final = "nat"
S3: Final = "s3"
_NAT_BITS: Final = 28
"""Prefix length of a NAT gateway's own subnet: the smallest that AWS takes; a gateway needs one address."""


def has_nat(network: CloudNetworkSpec) -> bool:
    """Whether hosts of a network of our own reach out by NAT gateways."""
    return not network.public and network.egress in {None, NAT}


def nat_part(network: CloudNetworkSpec, region: str, zones: Collection[str], owner: Owner) -> list[dict[str, object]]:
    """The document's NAT gateways: one in each zone in use, so that one zone's failure is no other zone's.

    Each stands in a small public subnet of its own; the hosts' subnet of its zone has a route table of its own.
    """
    if not has_nat(network):
        return []
    return [
        {
            "name": zone,
            "cidr": nat_cidr(network.cidr or "", zone, region),
            "zone": zone,
            "tags": tags(owner, "nat_gateway", zone),
            "subnet_tags": tags(owner, "subnet", f"nat/{zone}"),
            "address_tags": tags(owner, "elastic_ip", zone),
            "route_table_tags": tags(owner, "route_table", zone),
        }
        for zone in sorted(zones)
    ]


def nat_cidr(cidr: str, zone: str, region: str) -> str:
    """The range of the subnet in which a zone's NAT gateway stands: a /28 of the network's last eighth.

    Raises:
        GpuprovError: GP-CLOUD-022 for a zone whose hosts would have that eighth.
    """
    last = IPv4Network(subnet_cidr(cidr, f"{region}{ZONE_LETTERS[-1]}", region))
    letter = zone.removeprefix(region)
    if letter == ZONE_LETTERS[-1]:
        raise refuse(
            "GP-CLOUD-022",
            f"hosts without public addresses cannot stand in {zone}",
            address="targets.cloud.network.zones",
            detail="That zone's part of the network holds the subnets of the NAT gateways.",
            hint="name another zone, or write `egress: endpoints`",
        )
    return f"{last.network_address + ZONE_LETTERS.index(letter) * (1 << (32 - _NAT_BITS))}/{_NAT_BITS}"


def endpoints_part(
    network: CloudNetworkSpec,
    region: str,
    zones: Collection[str],
    owner: Owner,
    services: Mapping[str, FoundService],
) -> list[dict[str, object]]:
    """The document's endpoints: S3's gateway, which costs nothing, and the interfaces that the spec names.

    An interface serves the whole network from every zone that it stands in; it stands in those in use that have it.

    Raises:
        GpuprovError: GP-CLOUD-036 when the region or the zones in use have no endpoint for a service.
    """
    # AWS PrivateLink Guide, Gateway endpoints for Amazon S3 (read 2026-11-30): com.amazonaws.REGION.s3.
    gateway = {
        "name": S3,
        "service": f"com.amazonaws.{region}.s3",
        "interface": False,
        "zones": [],
        "tags": tags(owner, "endpoint", S3),
    }
    return [gateway, *(_interface(name, zones, owner, services.get(name)) for name in sorted(network.endpoints))]


def _interface(name: str, zones: Collection[str], owner: Owner, service: FoundService | None) -> dict[str, object]:
    address = "targets.cloud.network.endpoints"
    if service is None:
        raise refuse(
            "GP-CLOUD-036",
            f"the region has no interface endpoint for the service {name}",
            address=address,
            hint="`aws ec2 describe-vpc-endpoint-services` lists them; write what follows the region in a name",
        )
    there = sorted(set(zones) & set(service.zones))
    if not there:
        raise refuse(
            "GP-CLOUD-036",
            f"{service.name} has no endpoint in {', '.join(sorted(zones))}",
            address=address,
            detail=f"It is offered in {', '.join(service.zones) or 'no zone'}.",
            hint="take it away, or name another zone in targets.cloud.network.zones",
        )
    return {
        "name": name,
        "service": service.name,
        "interface": True,
        "zones": there,
        "tags": tags(owner, "endpoint", name),
    }
