"""Sums over dated prices: what is unknown stays unknown."""

from dataclasses import replace

import pytest

from gpuprov.catalog.find import price
from gpuprov.catalog.load import PACKAGED, Catalog, table
from gpuprov.catalog.rows_cloud import PriceRow
from gpuprov.cost.fleet import fleet_cost, spent
from gpuprov.model.cost import FleetCost

TYPE = "p5.48xlarge"
REGION = "us-east-1"


def rate(instance: str = TYPE, offer: str = "on-demand", region: str = REGION) -> PriceRow:
    row = price(instance, offer, region)
    assert row is not None
    return row


def test_equal_hosts_are_counted_and_the_oldest_day_is_told() -> None:
    g6, p5 = rate("g6.xlarge"), rate()
    found = fleet_cost([(TYPE, "on-demand"), ("g6.xlarge", "on-demand"), (TYPE, "on-demand")], REGION)
    assert found.usd_hour == pytest.approx(2 * (p5.usd_hour or 0) + (g6.usd_hour or 0))
    assert (found.hosts, found.unknown, found.since) == (3, (), min(g6.since, p5.since))
    assert found.usd_month == pytest.approx(found.usd_hour * 730)


def test_no_host_costs_nothing() -> None:
    assert fleet_cost([], REGION) == FleetCost()


UNKNOWN = [
    (TYPE, "spot", REGION, "what spot costs changes by the hour"),
    (TYPE, "on-demand", "eu-west-1", "no price in eu-west-1"),
    ("p5e.48xlarge", "on-demand", REGION, "no price in us-east-1"),
    # The catalog holds a figure that no source backs.
    ("p5.4xlarge", "capacity-block", REGION, "no price in us-east-1"),
    ("p9.huge", "on-demand", REGION, "no price in us-east-1"),
]


@pytest.mark.parametrize(("instance", "bought", "region", "why"), UNKNOWN)
def test_a_price_that_is_not_known_is_not_made_up(instance: str, bought: str, region: str, why: str) -> None:
    found = fleet_cost([(instance, bought), (instance, bought)], region)
    assert (found.hosts, found.usd_hour, found.since) == (2, 0.0, "")
    (told,) = found.unknown
    assert told.startswith(f"2 {instance} ({bought}): ")
    assert why in told


def test_what_is_bought_otherwise_has_its_own_price_and_one_that_holds_everywhere() -> None:
    block = fleet_cost([(TYPE, "capacity-block")], "eu-north-1")
    assert block.usd_hour == rate(offer="capacity-block", region="").usd_hour
    assert fleet_cost([(TYPE, "reservation")], REGION) == fleet_cost([(TYPE, "on-demand")], REGION)


def test_prices_of_ones_own_count() -> None:
    whole = table("prices")
    mine = tuple(replace(row, usd_hour=1.5) if row.id == f"{TYPE}/on-demand" else row for row in whole.rows)  # type: ignore[call-arg]
    own = Catalog(own={"prices": replace(whole, rows=mine)})
    assert fleet_cost([(TYPE, "on-demand")], REGION, own).usd_hour == 1.5
    assert fleet_cost([(TYPE, "on-demand")], REGION, PACKAGED).usd_hour != 1.5


def test_what_was_spent_is_hours_times_price_without_what_is_unknown() -> None:
    found = spent([(TYPE, "on-demand", 2.0), (TYPE, "spot", 100.0)], REGION)
    assert found.usd == pytest.approx(2 * (rate().usd_hour or 0))
    assert found.unknown == 1
