"""A network that is there already: whether it serves, and which of its subnets the hosts are put into."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from ipaddress import IPv4Network
from typing import Final

from gpuprov.cloud.decide.refusals import refuse
from gpuprov.cloud.decide.surroundings import ELSEWHERE, INTERNET, FoundNetwork, FoundSubnet
from gpuprov.spec.cloud import CloudNetworkSpec, CloudSpec

_AT: Final = "targets.cloud.network"


def placed_in(cloud: CloudSpec, found: FoundNetwork | None) -> CloudSpec:
    """The cloud target with the zones of the network that is there: hosts can stand in no other one.

    Args:
        cloud: the spec's.
        found: what its `existing` means.

    Raises:
        GpuprovError: GP-CLOUD-031 for two subnets in a zone; GP-CLOUD-032 for another range; GP-CLOUD-033 where no
            subnet leads out as the spec says.
    """
    network = cloud.network
    if network.existing is None:
        return cloud
    if found is None:
        raise ValueError("the network that the spec calls existing was not looked up")
    if network.cidr is not None and IPv4Network(network.cidr) not in map(IPv4Network, found.cidrs):
        raise refuse(
            "GP-CLOUD-032",
            f"the VPC {found.vpc} has the range {', '.join(found.cidrs)}, and the spec says {network.cidr}",
            address=f"{_AT}.cidr",
            hint="name the VPC's own range, or leave `cidr` out; another VPC is another place for all hosts",
        )
    by_zone: dict[str, FoundSubnet] = {}
    for subnet in found.subnets:
        other = by_zone.setdefault(subnet.zone, subnet)
        if other is not subnet:
            raise refuse(
                "GP-CLOUD-031",
                f"{other.id} and {subnet.id} are both in {subnet.zone}, so where hosts go is not clear",
                address=f"{_AT}.existing",
                hint="name one of the two with `subnets`, or tag only one",
            )
    serving = [zone for zone, subnet in by_zone.items() if not _way_missing(network, subnet)]
    if not serving:
        raise _no_way(network, found.subnets)
    # Subnets by tag come in no order of the spec's: zones then go by name, as in a network of our own.
    order = serving if network.existing.subnets else sorted(serving)
    zones = tuple(zone for zone in network.zones if zone in serving) if network.zones else tuple(order)
    if not zones:
        raise refuse(
            "GP-CLOUD-030",
            f"the network that is there has no subnet in {', '.join(network.zones)}",
            address=f"{_AT}.zones",
            detail=f"Its subnets are in {', '.join(sorted(by_zone))}.",
            hint="name one of these zones, or leave `zones` out",
        )
    return replace(cloud, network=replace(network, zones=zones))


def existing_part(
    network: CloudNetworkSpec, zones: Collection[str], found: FoundNetwork, *, new: Mapping[str, int]
) -> dict[str, object]:
    """The document's `network` for one that is there.

    Args:
        network: the spec's.
        zones: the zones in use.
        found: the network.
        new: zone -> addresses that new hosts take.

    Raises:
        GpuprovError: GP-CLOUD-030 for a zone without a subnet; GP-CLOUD-033 for one whose subnet does not lead out;
            GP-CLOUD-034 for one with too few addresses.
    """
    subnets = {subnet.zone: subnet for subnet in found.subnets}
    for zone in sorted(zones):
        subnet = subnets.get(zone)
        if subnet is None:
            raise refuse(
                "GP-CLOUD-030",
                f"hosts stand in {zone}, and the network has no subnet there",
                address=f"{_AT}.existing",
                hint="name the subnet that they are in again",
            )
        if _way_missing(network, subnet):
            raise _no_way(network, (subnet,))
        if new.get(zone, 0) > subnet.free:
            raise refuse(
                "GP-CLOUD-034",
                f"the subnet {subnet.id} in {zone} has {subnet.free} free address(es), and new hosts need {new[zone]}",
                address=f"{_AT}.existing",
                detail=f"Its range is {subnet.cidr}; AWS keeps five addresses of each subnet.",
                hint="free addresses, make fewer hosts, or name a larger subnet",
            )
    return {
        "cidr": found.cidrs[0],
        "vpc": found.vpc,
        "public": network.public,
        "subnets": [
            {"name": zone, "id": subnets[zone].id, "cidr": subnets[zone].cidr, "zone": zone, "tags": {}}
            for zone in sorted(zones)
        ],
        "tags": {},
        "gateway": None,
        "route_table": None,
        "nats": [],
        "endpoints": [],
    }


def _way_missing(network: CloudNetworkSpec, subnet: FoundSubnet) -> bool:
    if network.public:
        return subnet.way != INTERNET
    return network.egress != "endpoints" and subnet.way != ELSEWHERE


def _no_way(network: CloudNetworkSpec, subnets: Collection[FoundSubnet]) -> Exception:
    wanted = "an internet gateway" if network.public else "a NAT gateway, a transit gateway or a VPN"
    ways = {INTERNET: "leads to an internet gateway", ELSEWHERE: "leads elsewhere", "": "has no default route"}
    hint = "write `public: false`" if network.public else "write `egress: endpoints` where hosts need no way out"
    return refuse(
        "GP-CLOUD-033",
        f"no default route leads to {wanted} from {', '.join(subnet.id for subnet in subnets)}",
        address=f"{_AT}.existing",
        detail="\n".join(f"{subnet.id} ({subnet.zone}) {ways[subnet.way]}" for subnet in subnets),
        hint=f"name subnets that have one, or {hint}",
    )
