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
DAY = "; prices seen 2026-07-20 or later"
ALONE = "for the instances alone"
LEFT_OUT = "  not counted: 1 p5.48xlarge (spot): it changes"
CASES = [
    (NONE, NONE, []),
    (NONE, TWO, [f"cost: $110.08 an hour ($80,358 a month) {ALONE}{DAY}"]),
    (TWO, TWO, [f"cost: $110.08 an hour ($80,358 a month), as now {ALONE}{DAY}"]),
    (TWO, NONE, [f"cost: $110.08 an hour ($80,358 a month) -> nothing {ALONE}{DAY}"]),
    (
        TWO,
        MIXED,
        [
            f"cost: $110.08 an hour ($80,358 a month) -> at least $110.08 an hour ($80,358 a month) {ALONE}{DAY}",
            LEFT_OUT,
        ],
    ),
    (NONE, DARK, [f"cost: unknown for 1 host(s) {ALONE}", LEFT_OUT]),
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
    assert (body["prices_since"], body["counted"]) == ("2026-07-20", "instances")


def test_what_was_spent() -> None:
    assert spent_text(Spent(usd=1234.5, unknown=0)) == "about $1,234.50 since the last start of each host"
    assert spent_text(Spent(usd=0, unknown=2)).endswith(", without 2 whose price is not known")
