"""What hosts cost: sums over dated prices, with what is not known beside them."""

from dataclasses import dataclass
from typing import Final

MONTH_HOURS: Final = 730
"""Hours of a month as AWS's own calculator counts them (AWS Pricing Calculator user guide, read 2026-11-30)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FleetCost:
    """What hosts that run cost an hour: instances alone, before tax, discounts, storage and transfer."""

    hosts: int = 0
    usd_hour: float = 0.0
    """Of those whose price is known."""
    unknown: tuple[str, ...] = ()
    """`2 p5e.48xlarge (spot): why` for those whose price is not."""
    since: str = ""
    """The oldest day on which one of the prices was seen; empty when none is known."""

    @property
    def usd_month(self) -> float:
        """A month of it."""
        return self.usd_hour * MONTH_HOURS


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
