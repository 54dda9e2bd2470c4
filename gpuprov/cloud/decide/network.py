"""The network: one subnet per zone in use, and who may reach the hosts."""

from collections.abc import Collection, Mapping
from ipaddress import IPv4Network, ip_network
from typing import Final

from gpuprov.cloud.decide.names import GROUP_LIMIT, group_name, shorten
from gpuprov.cloud.decide.refusals import refuse
from gpuprov.cloud.decide.surroundings import FoundService
from gpuprov.cloud.decide.tags import Owner, tags
from gpuprov.cloud.decide.ways import endpoints_part, has_nat, nat_part
from gpuprov.cloud.decide.zones import subnet_cidr
from gpuprov.spec.cloud import CloudNetworkSpec

SSH: Final = 22
_ANYWHERE: Final = "0.0.0.0/0"


def network_part(
    network: CloudNetworkSpec, region: str, zones: Collection[str], owner: Owner, services: Mapping[str, FoundService]
) -> dict[str, object]:
    """The document's `network` for one that is made.

    Hosts without public addresses reach out by NAT gateways, and are reached over the connection that the site gives
    the VPC (a jump host, a VPN, a peering). With `egress: endpoints` there is no way to the internet at all.

    Args:
        network: the spec's.
        region: the region.
        zones: the zones in use.
        owner: whose it is.
        services: those that interface endpoints can be made for.

    Raises:
        GpuprovError: GP-CLOUD-022, GP-CLOUD-036.
    """
    cidr = network.cidr or ""
    return {
        "cidr": str(IPv4Network(cidr, strict=False)),  # AWS takes no host part
        "vpc": None,
        "public": network.public,
        "subnets": [
            {
                "name": zone,
                "id": None,
                "cidr": subnet_cidr(cidr, zone, region),
                "zone": zone,
                "tags": tags(owner, "subnet", zone),
            }
            for zone in sorted(zones)
        ],
        "tags": tags(owner, "vpc", "main"),
        "gateway": {"tags": tags(owner, "gateway", "main")} if network.public or has_nat(network) else None,
        "route_table": {"tags": tags(owner, "route_table", "main")},
        "nats": nat_part(network, region, zones, owner),
        "endpoints": endpoints_part(network, region, zones, owner, services),
    }


def group_part(network: CloudNetworkSpec, owner: Owner, *, efa: bool = False) -> dict[str, object]:
    """The document's `security_group`: named ranges come in, hosts reach each other, everything may go out.

    Nothing narrows the way out: hosts fetch packages, container images and data from addresses that their publishers
    change at will. A site that must narrow it does so on its own gateway or proxy.

    Args:
        network: the spec's.
        owner: whose it is.
        efa: whether hosts have EFA. Its traffic is not IP: 0.0.0.0/0 does not let it out, only the group itself does
            (EC2 User Guide, Prepare an EFA-enabled security group, read 2026-11-30).
    """
    reaching = _reaching(network)
    ingress: list[dict[str, object]] = [
        {
            "name": f"{port}/{cidr}",
            "description": _description(f"TCP {port} from {', '.join(names)}"),
            "protocol": "tcp",
            "from_port": port,
            "to_port": port,
            "cidr": cidr,
            "members": False,
            "tags": tags(owner, "ingress", f"{port}/{cidr}"),
        }
        for (port, cidr), names in sorted(reaching.items())
    ]
    members = _whole("members", "everything between the hosts", owner, "ingress") | {"cidr": None, "members": True}
    outward = _whole("all", "everything outward: packages, container images, data", owner, "egress")
    fabric = _whole("members", "EFA between the hosts", owner, "egress") | {"cidr": None, "members": True}
    return {
        "name": group_name(owner.stack),
        "description": _description(f"Hosts of {owner.spec}, made by gpuprov"),
        "ingress": [*ingress, members],
        "egress": [outward | {"cidr": _ANYWHERE, "members": False}, *([fabric] if efa else ())],
        "tags": tags(owner, "security_group", "main"),
    }


def _whole(name: str, description: str, owner: Owner, kind: str) -> dict[str, object]:
    return {
        "name": name,
        "description": description,
        "protocol": "-1",
        "from_port": None,  # AWS takes no ports with "all protocols"
        "to_port": None,
        "tags": tags(owner, kind, name),
    }


def _reaching(network: CloudNetworkSpec) -> Mapping[tuple[int, str], list[str]]:
    """Port and range -> the ranges' names: AWS refuses the same rule twice, even with another description."""
    wanted = [(SSH, name, "targets.cloud.network.ssh_from") for name in network.ssh_from]
    wanted += [(door.port, name, "targets.cloud.network.open") for door in network.open for name in door.ranges]
    reaching: dict[tuple[int, str], list[str]] = {}
    for port, name, address in wanted:
        if name not in network.ranges:
            raise refuse(
                "GP-SPEC-005",
                f"there is no range {name}",
                address=address,
                hint=f"ranges: {', '.join(network.ranges) or 'none'}",
            )
        for cidr in network.ranges[name]:
            names = reaching.setdefault((port, _closed(cidr, name, said_twice=port in network.world)), [])
            if name not in names:
                names.append(name)
    return reaching


def _closed(cidr: str, name: str, *, said_twice: bool) -> str:
    """A range in its one spelling; IPv6, which the network does not have, and a world said once are refused."""
    address = f"targets.cloud.network.ranges.{name}"
    found = ip_network(cidr, strict=False)
    if found.version != 4:  # noqa: PLR2004 - the protocol's name
        raise refuse("GP-SPEC-005", f"{cidr} is no IPv4 range", address=address, hint="the network has IPv4 only")
    if found.prefixlen == 0 and not said_twice:
        raise refuse(
            "GP-SPEC-005",
            f"{cidr} is the whole internet",
            address=address,
            hint="name the ranges that people really come from",
        )
    return str(found)


def _description(text: str) -> str:
    return shorten(text, GROUP_LIMIT)
