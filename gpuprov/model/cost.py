"""What hosts cost: sums over dated prices, with what is not known beside them."""

from dataclasses import dataclass
from typing import Final

MONTH_HOURS: Final = 730
"""Hours of a month as AWS's own calculator counts them (AWS Pricing Calculator user guide, read 2026-11-30)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FleetCost:
    """What hosts that run, and what stands around them, cost an hour: before tax, discounts and what is paid by use."""

    hosts: int = 0
    usd_hour: float = 0.0
    """Of the instances whose price is known."""
    unknown: tuple[str, ...] = ()
    """`2 p5e.48xlarge (spot): why` for what has no price."""
    since: str = ""
    """The oldest day on which one of the prices was seen; empty when none is known."""
    around_usd_hour: float = 0.0
    """Of gateways, addresses, endpoints and volumes whose price is known."""
    by_use: tuple[str, ...] = ()
    """What is paid by what is sent or kept, and is in no sum."""

    @property
    def whole_usd_hour(self) -> float:
        """The instances and what stands around them."""
        return self.usd_hour + self.around_usd_hour

    @property
    def usd_month(self) -> float:
        """A month of the whole."""
        return self.whole_usd_hour * MONTH_HOURS

    @property
    def nothing(self) -> bool:
        """Whether there is nothing that costs by the hour."""
        return not (self.hosts or self.around_usd_hour or self.unknown)


@dataclass(frozen=True, kw_only=True, slots=True)
class CostChange:
    """What hosts cost before a run and after it."""

    before: FleetCost
    after: FleetCost


@dataclass(frozen=True, kw_only=True, slots=True)
class Spent:
    """What the hosts that run have cost since each was started last, at today's prices."""

    usd: float
    unknown: int
    """Hosts whose price is not known, and which are not in the sum."""
