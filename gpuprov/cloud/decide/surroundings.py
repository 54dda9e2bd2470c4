"""What a decision needs to know of the account beyond offers: a network that is there, and services with endpoints."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

INTERNET: Final = "internet"
"""Way out of a subnet: its default route leads to an internet gateway."""
ELSEWHERE: Final = "elsewhere"
"""Its default route leads to something else: a NAT gateway, a transit gateway, a VPN."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundSubnet:
    """A subnet of a network that is there."""

    id: str
    zone: str
    cidr: str
    free: int
    """Addresses that nothing has yet, as EC2 counts them."""
    way: str
    """INTERNET, ELSEWHERE, or empty: it has no default route."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundNetwork:
    """A network that is there: one VPC, and the subnets in it that the spec means, in its order."""

    vpc: str
    cidrs: tuple[str, ...]
    """The VPC's ranges, the first one first."""
    subnets: tuple[FoundSubnet, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundService:
    """A service that an interface endpoint can be made for."""

    name: str
    """Whole, such as `com.amazonaws.us-east-1.ecr.api`."""
    zones: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What was found in the account before anything is decided."""

    network: FoundNetwork | None = None
    """What the spec's `existing` means; None where it has none."""
    services: Mapping[str, FoundService] = field(default_factory=dict)
    """Name in the spec's `endpoints` -> the service; a name that is missing has none in the region."""
