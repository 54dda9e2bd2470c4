"""What stands around a fleet: sums of what has a rate, and words for what has none and what is paid by use."""

from dataclasses import replace

import pytest

from gpuprov.catalog.find import rate
from gpuprov.cost.around import with_around
from gpuprov.model.cost import FleetCost

REGION = "us-east-1"
FLEET = FleetCost(hosts=1, usd_hour=1.0, since="2026-07-20")
SENT = "traffic to the internet and between zones"


@pytest.mark.parametrize(
    ("parts", "usd_hour"),
    [
        ({}, 0),
        ({"nat-gateway": 2, "public-ipv4": 3, "interface-endpoint": 4}, 2 * 0.045 + 3 * 0.005 + 4 * 0.01),
        ({"gp3-storage": 730}, 0.08 * 730 / 730),
        ({"gp3-iops": 1000, "gp3-throughput": 100}, (5 + 4) / 730),
        ({"bucket": 2}, 0),
    ],
)
def test_parts_are_summed_up_by_the_hour(parts: dict[str, float], usd_hour: float) -> None:
    found = with_around(FLEET, parts, REGION)
    assert found.around_usd_hour == pytest.approx(usd_hour)
    assert (found.usd_hour, found.hosts, found.unknown) == (1.0, 1, ())
    assert found.whole_usd_hour == pytest.approx(1 + usd_hour)


def test_a_rate_of_another_region_is_not_taken_and_the_part_is_told() -> None:
    found = with_around(replace(FLEET, unknown=("1 x",)), {"nat-gateway": 2, "public-ipv4": 2, "fsx": 1}, "eu-west-1")
    assert found.around_usd_hour == pytest.approx(0.01)  # addresses cost the same everywhere
    assert found.unknown == (
        "1 x",
        "1 fsx: the catalog has no price in eu-west-1",
        "2 nat-gateway: the catalog has no price in eu-west-1",
    )


def test_what_is_paid_by_use_is_named_and_in_no_sum() -> None:
    found = with_around(FLEET, {"efs-storage": 1, "bucket": 1, "nat-gateway": 1, "interface-endpoint": 1}, REGION)
    assert found.around_usd_hour == pytest.approx(0.055)
    assert found.by_use == (
        "GiB kept in EFS Standard ($0.3 a GiB-month)",
        "data through NAT gateways",
        "data through interface endpoints",
        "what buckets hold, and requests to them",
        SENT,
    )
    assert with_around(FleetCost(), {}, REGION).by_use == ()


def test_the_oldest_day_counts() -> None:
    row = rate("nat-gateway", REGION)
    assert row is not None
    assert with_around(FLEET, {"nat-gateway": 1}, REGION).since == min(row.since, FLEET.since)
    assert with_around(FLEET, {}, REGION).since == FLEET.since
