"""Cost on screen: what it is now and afterwards, since when the prices hold, and what is not in the sum."""

import io
from typing import Any

import pytest

from gpuprov.model.cost import CostChange, FleetCost, Spent
from gpuprov.render.cost_text import cost_body, show_cost, spent_text
from gpuprov.render.terminal import text_terminal

NONE = FleetCost()
TWO = FleetCost(hosts=2, usd_hour=110.08, since="2026-07-20")
MIXED = FleetCost(hosts=3, usd_hour=110.08, since="2026-07-20", unknown=("1 p5.48xlarge (spot): it changes",))
DARK = FleetCost(hosts=1, unknown=("1 p5.48xlarge (spot): it changes",))
AROUND = FleetCost(
    hosts=1,
    usd_hour=1.0,
    around_usd_hour=0.5,
    since="2026-02-24",
    unknown=("2 NAT gateway: no price",),
    by_use=("data through NAT gateways",),
)
VOLUMES = FleetCost(around_usd_hour=0.25, since="2026-11-30")
DAY = "; prices seen 2026-07-20 or later"
LEFT_OUT = "  not counted: 1 p5.48xlarge (spot): it changes"
CASES = [
    (NONE, NONE, []),
    (NONE, TWO, [f"cost: $110.08 an hour ($80,358 a month){DAY}"]),
    (TWO, TWO, [f"cost: $110.08 an hour ($80,358 a month), as now{DAY}"]),
    (TWO, NONE, [f"cost: $110.08 an hour ($80,358 a month) -> nothing{DAY}"]),
    (
        TWO,
        MIXED,
        [
            f"cost: $110.08 an hour ($80,358 a month) -> at least $110.08 an hour ($80,358 a month){DAY}",
            LEFT_OUT,
        ],
    ),
    (
        AROUND,
        AROUND,
        [
            "cost: at least $1.50 an hour ($1,095 a month), as now; prices seen 2026-02-24 or later",
            "  of that an hour: instances $1.00, gateways, addresses, endpoints, volumes $0.50",
            "  not counted: 2 NAT gateway: no price",
            "  not included, for it is paid by use: data through NAT gateways",
        ],
    ),
    (
        VOLUMES,
        NONE,
        ["cost: $0.25 an hour ($182 a month) -> nothing; prices seen 2026-11-30 or later"],
    ),
    (NONE, DARK, ["cost: unknown for 1 host(s)", LEFT_OUT]),
]


@pytest.mark.parametrize(("before", "after", "lines"), CASES)
def test_cost(before: FleetCost, after: FleetCost, lines: list[str]) -> None:
    stream = io.StringIO()
    show_cost(CostChange(before=before, after=after), text_terminal(stream))
    assert stream.getvalue().splitlines() == lines


def test_json_says_null_for_what_is_not_known() -> None:
    assert cost_body(None) is None
    body: Any = cost_body(CostChange(before=NONE, after=MIXED))
    assert body["before"]["usd_hour"] is None
    assert (body["after"]["usd_hour"], body["after"]["usd_month"]) == (110.08, 80358.4)
    assert body["after"]["unknown"] == list(MIXED.unknown)
    assert body["prices_since"] == "2026-07-20"
    around: Any = cost_body(CostChange(before=AROUND, after=VOLUMES))
    assert [around["before"][key] for key in ("usd_hour", "instances_usd_hour", "around_usd_hour")] == [1.5, 1.0, 0.5]
    assert around["before"]["by_use"] == ["data through NAT gateways"]
    assert around["counted"] == "instances, gateways, addresses, endpoints, volumes"


def test_what_was_spent() -> None:
    assert spent_text(Spent(usd=1234.5, unknown=0)) == "about $1,234.50 since the last start of each host"
    assert spent_text(Spent(usd=0, unknown=2)).endswith(", without 2 whose price is not known")
