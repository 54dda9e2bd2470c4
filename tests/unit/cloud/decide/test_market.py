"""How new hosts are bought, as plain values; stacks/test_program.py reads back what the program makes of them."""

from typing import Any

import pytest
from cloud_builders import cloud_network

from gpuprov.cloud.decide.market import Bought, buy, differs, part_of
from gpuprov.cloud.types import Reservation
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.market import MarketSpec

TYPE = "p5.48xlarge"
CR = "cr-0123456789abcdef0"


def reservation(**changes: Any) -> Reservation:
    given: dict[str, Any] = {"id": CR, "type": TYPE, "zone": "us-east-1a", "state": "active", "total": 2, "free": 2}
    return Reservation(**given | changes)


def bought(market: MarketSpec, *reservations: Reservation, **more: Any) -> tuple[dict[str, Bought], dict[str, str]]:
    given: dict[str, Any] = {"freed": {}, "pinned": {}, "network": cloud_network()}
    return buy(market, ["a", "b"], TYPE, reservations=reservations, address="pools.p.cloud.market", **given | more)


def test_bound_hosts_take_the_reservation_of_their_zone_first() -> None:
    far = reservation(id="cr-00000000000000002", zone="us-east-1b", total=9, free=9)
    near = reservation(total=1, free=1)
    market = MarketSpec(kind="reservation", group="g")
    _, zones = bought(market, near, far, pinned={"b": "us-east-1a"})
    assert zones == {"a": "us-east-1b", "b": "us-east-1a"}


def test_a_bound_host_without_a_reservation_in_its_zone_is_refused() -> None:
    with pytest.raises(GpuprovError) as caught:
        bought(MarketSpec(kind="reservation", id=CR), reservation(), pinned={"b": "us-east-1b"})
    assert "room for 1 of 2" in caught.value.diagnostics[0].summary


def test_without_new_hosts_nothing_is_asked_of_a_reservation() -> None:
    market = MarketSpec(kind="capacity-block", id=CR)
    nothing: dict[str, Any] = {"freed": {}, "pinned": {}, "network": cloud_network(), "reservations": ()}
    assert buy(market, [], TYPE, address="x", **nothing) == ({}, {})


@pytest.mark.parametrize(
    ("market", "one", "other"),
    [
        (MarketSpec(), Bought(), False),
        (MarketSpec(), Bought(kind="spot"), True),
        (MarketSpec(kind="spot"), Bought(kind="spot"), False),
        (MarketSpec(kind="spot", max_price="2"), Bought(kind="spot", max_price="1"), True),
        (MarketSpec(kind="reservation", id=CR), Bought(kind="reservation", reservation=CR), False),
        (MarketSpec(kind="reservation", id=CR), Bought(kind="reservation", reservation="cr-1"), True),
        (MarketSpec(kind="reservation", group="g"), Bought(kind="reservation", reservation="cr-1"), False),
        (MarketSpec(kind="capacity-block", id=CR), Bought(kind="reservation", reservation=CR), True),
    ],
)
def test_another_market_is_told_from_the_same(market: MarketSpec, one: Bought, other: object) -> None:
    assert differs(market, one) is other


def test_the_documents_market_of_a_host() -> None:
    assert part_of(Bought()) is None
    assert part_of(Bought(kind="spot", max_price="1")) == {"kind": "spot", "max_price": "1", "reservation": None}
    assert part_of(Bought(kind="reservation", reservation=CR)) == {
        "kind": "reservation", "max_price": None, "reservation": CR,
    }  # fmt: skip
