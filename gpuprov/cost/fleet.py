"""The hourly cost of a fleet."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from gpuprov.catalog.find import price
from gpuprov.catalog.load import PACKAGED, Catalog
from gpuprov.catalog.rows_cloud import PriceRow
from gpuprov.model.cost import FleetCost, Spent

ON_DEMAND: Final = "on-demand"
_OFFERS: Final = {
    ON_DEMAND: ON_DEMAND,
    # A reservation is paid as on demand, used or not (EC2 User Guide, Capacity Reservation pricing; read 2026-11-30).
    "reservation": ON_DEMAND,
    "capacity-block": "capacity-block",
}
"""How a host was bought -> the offer whose price holds."""


def fleet_cost(hosts: Iterable[tuple[str, str]], region: str, catalog: Catalog = PACKAGED) -> FleetCost:
    """Sum up what hosts cost an hour.

    Args:
        hosts: instance type of each that runs, and how it was bought: on-demand, reservation, capacity-block, spot.
        region: where they are; a price of another region is not taken.
        catalog: whose prices.
    """
    counted = Counter(hosts)
    known: list[tuple[PriceRow, float]] = []
    unknown: list[str] = []
    for (instance, bought), count in sorted(counted.items()):
        row = price(instance, _OFFERS.get(bought, ""), region, catalog)
        if row is None or row.usd_hour is None:
            unknown.append(f"{count} {instance} ({bought}): {_why(bought, region)}")
        else:
            known.append((row, row.usd_hour * count))
    return FleetCost(
        hosts=counted.total(),
        usd_hour=sum(cost for _, cost in known),
        unknown=tuple(unknown),
        since=min((row.since for row, _ in known), default=""),
    )


def spent(hosts: Iterable[tuple[str, str, float]], region: str, catalog: Catalog = PACKAGED) -> Spent:
    """What hosts have cost since they were started last.

    Args:
        hosts: as in `fleet_cost`, with the hours that each has run.
        region: as in `fleet_cost`.
        catalog: as in `fleet_cost`.
    """
    each = [(fleet_cost([(instance, bought)], region, catalog), hours) for instance, bought, hours in hosts]
    return Spent(
        usd=sum(cost.usd_hour * hours for cost, hours in each),
        unknown=sum(1 for cost, _ in each if cost.unknown),
    )


def _why(bought: str, region: str) -> str:
    if bought == "spot":
        return "what spot costs changes by the hour"
    return f"the catalog has no price in {region}"
