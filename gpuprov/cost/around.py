"""The hourly cost of what stands around a fleet: gateways, addresses, endpoints, volumes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gpuprov.catalog.find import rate
from gpuprov.catalog.load import PACKAGED, Catalog
from gpuprov.model.cost import MONTH_HOURS, FleetCost

_NAT: Final = "nat-gateway"
_ENDPOINT: Final = "interface-endpoint"
_BUCKET: Final = "bucket"


def with_around(cost: FleetCost, parts: Mapping[str, float], region: str, catalog: Catalog = PACKAGED) -> FleetCost:
    """The cost of a fleet with what stands around it.

    What is paid by use is named, with its rate where that is known, and is in no sum; a part without a price stays
    unknown, and is named too.

    Args:
        cost: of the instances.
        parts: part, as the catalog's rates name it -> how many.
        region: where they are; a rate of another region is not taken.
        catalog: whose rates.
    """
    usd, unknown, by_use, since = 0.0, list(cost.unknown), [], [cost.since] if cost.since else []
    for part, count in sorted(parts.items()):
        if part == _BUCKET:
            continue  # paid by use alone
        row = rate(part, region, catalog)
        if row is None or row.usd is None:
            unknown.append(f"{_number(count)} {row.what if row else part}: the catalog has no price in {region}")
        elif row.by_use:
            by_use.append(f"{row.what} (${row.usd:g} a {row.unit})")
        else:
            usd += count * (row.usd if row.unit == "hour" else row.usd / MONTH_HOURS)
            since.append(row.since)
    return replace(
        cost,
        around_usd_hour=usd,
        unknown=tuple(unknown),
        by_use=(*by_use, *_traffic(cost, parts)),
        since=min(since, default=""),
    )


def _traffic(cost: FleetCost, parts: Mapping[str, float]) -> tuple[str, ...]:
    """What is paid by what is sent and kept, where there is something that does so."""
    told = {
        "data through NAT gateways": _NAT in parts,
        "data through interface endpoints": _ENDPOINT in parts,
        "what buckets hold, and requests to them": _BUCKET in parts,
        "traffic to the internet and between zones": cost.hosts > 0,
    }
    return tuple(text for text, there in told.items() if there)


def _number(count: float) -> str:
    return f"{count:g}"
