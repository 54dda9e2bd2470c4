"""Zones: where a pool's hosts stand, and the slot of the network that each zone has for good."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network
from typing import Final

from gpuprov.cloud.decide.refusals import refuse
from gpuprov.spec.cloud import CloudNetworkSpec

ZONE_LETTERS: Final = "abcdefgh"
"""A region has at most six zones today, a to f (us-east-1, 2026-11-30); each letter owns an eighth of the network."""
_SLOT_BITS: Final = 3
_LARGEST, _SMALLEST = 16, 28
"""Prefix lengths that AWS takes for a VPC and a subnet (Amazon VPC User Guide, CIDR blocks, read 2026-11-30)."""


def subnet_cidr(cidr: str, zone: str, region: str) -> str:
    """The part of the network that belongs to a zone, whatever other zones are in use.

    Raises:
        GpuprovError: GP-SPEC-005 when the network is larger or smaller than AWS and eight zones allow; GP-CLOUD-022
            when the zone is no ordinary zone of the region.
    """
    network = IPv4Network(cidr, strict=False)
    if not _LARGEST <= network.prefixlen <= _SMALLEST - _SLOT_BITS:
        raise refuse(
            "GP-SPEC-005",
            f"the network {cidr} is a /{network.prefixlen}",
            address="targets.cloud.network.cidr",
            detail=f"AWS takes networks from /{_LARGEST} and subnets to /{_SMALLEST}; each of the eight zones that a "
            "region may have owns an eighth of the network, so that adding a zone renumbers nothing.",
            hint=f"write a network between /{_LARGEST} and /{_SMALLEST - _SLOT_BITS}",
        )
    if not is_zone(zone, region):
        raise refuse(
            "GP-CLOUD-022",
            f"{zone} is no availability zone of {region}",
            address="targets.cloud.network.zones",
            detail="A zone is the region's name and a letter; local and wavelength zones are not supported.",
            hint=f"write zones such as {region}a",
        )
    slot = ZONE_LETTERS.index(zone.removeprefix(region))
    size = 1 << (32 - network.prefixlen - _SLOT_BITS)
    return f"{network.network_address + slot * size}/{network.prefixlen + _SLOT_BITS}"


def is_zone(zone: str, region: str) -> bool:
    """Whether it is an ordinary availability zone of the region."""
    letter = zone.removeprefix(region)
    return zone != letter and len(letter) == 1 and letter in ZONE_LETTERS


def choose_zone(
    network: CloudNetworkSpec, region: str, instance: str, zones: Mapping[str, Sequence[str]], *, address: str
) -> str:
    """The zone for new hosts of an instance type: the first that the spec allows and that offers the type.

    All hosts of a pool stand together: traffic between zones costs money and time, and GPUs that train together need
    one network. The choice depends on no other host and no other pool. Without `network.zones` the order is by name.

    Args:
        network: gives the zones that the spec allows, in its order; empty for any.
        region: the region.
        instance: the instance type.
        zones: instance type -> zones of the region that offer it.
        address: where the spec names the type.

    Raises:
        GpuprovError: GP-CLOUD-022 when no zone serves.
    """
    offering = sorted(zone for zone in zones.get(instance, ()) if is_zone(zone, region))
    if not offering:
        raise refuse(
            "GP-CLOUD-022",
            f"{region} does not offer the instance type {instance}",
            address=address,
            hint="check the type's name, or choose a region that offers it",
        )
    for zone in network.zones or offering:
        if zone in offering:
            return zone
    raise refuse(
        "GP-CLOUD-022",
        f"no zone of the spec offers the instance type {instance}",
        address="targets.cloud.network.zones",
        detail=f"The spec allows {', '.join(network.zones)}; the type is offered in {', '.join(offering)}.",
        hint=f"add {offering[0]} to the zones, or leave `zones` out",
    )
