"""How each new host's capacity is bought, and which reservation it comes from; what stands stays as it was bought."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gpuprov.cloud.decide.refusals import refuse
from gpuprov.cloud.types import Reservation
from gpuprov.spec.cloud import CloudNetworkSpec
from gpuprov.spec.market import CAPACITY_BLOCK, ON_DEMAND, RESERVATION, RESERVED, SPOT, MarketSpec

ACTIVE: Final = "active"
"""The one state in which a reservation gives capacity (EC2 API Reference, CapacityReservation, read 2026-11-30)."""
_LINUX: Final = "Linux/UNIX"
_KINDS: Final = {CAPACITY_BLOCK: "capacity-block", RESERVATION: "default"}
"""Kind of a market -> EC2's type of the reservation."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bought:
    """How one host is bought."""

    kind: str = ON_DEMAND
    max_price: str = ""
    reservation: str = ""
    """Id of the capacity reservation, of a block too."""

    @property
    def text(self) -> str:
        """In words, such as `spot` or `reservation cr-0123`."""
        return f"{self.kind} {self.reservation}".strip()


def part_of(bought: Bought) -> dict[str, object] | None:
    """The document's `market` of an instance; None for on demand."""
    if bought.kind == ON_DEMAND:
        return None
    return {
        "kind": bought.kind,
        "max_price": bought.max_price or None,
        "reservation": bought.reservation or None,
    }


def bought_of(inputs: Mapping[str, object]) -> Bought:
    """How a standing instance was bought, by its inputs in the state."""
    options, capacity = _object(inputs, "instanceMarketOptions"), _object(inputs, "capacityReservationSpecification")
    target = _object(capacity, "capacityReservationTarget")
    reservation = str(target.get("capacityReservationId") or "")
    kind = str(options.get("marketType") or (RESERVATION if reservation else ON_DEMAND))
    spot = _object(options, "spotOptions")
    return Bought(
        kind=kind,
        max_price=str(spot.get("maxPrice") or ""),
        reservation=reservation,
    )


def differs(market: MarketSpec, bought: Bought) -> bool:
    """Whether a standing host was bought otherwise than the spec says now."""
    if market.kind != bought.kind:
        return True
    if market.kind == SPOT:
        return market.max_price != bought.max_price
    return bool(market.id) and market.id != bought.reservation


def buy(
    market: MarketSpec,
    hosts: Sequence[str],
    type_: str,
    *,
    network: CloudNetworkSpec,
    reservations: Sequence[Reservation],
    freed: Mapping[str, int],
    pinned: Mapping[str, str],
    address: str,
) -> tuple[dict[str, Bought], dict[str, str]]:
    """How new hosts of a pool are bought, and the zones in which they must stand.

    Args:
        market: the pool's.
        hosts: names of those that are to be made.
        type_: their instance type.
        network: gives the zones that the spec allows.
        reservations: those that the market names, as the account has them.
        freed: reservation -> hosts in it that are made anew, and go first.
        pinned: host -> zone in which it must stand, because its volumes do.
        address: of the pool's market in the spec.

    Returns:
        Host -> how it is bought; host -> zone, for hosts in reserved capacity.

    Raises:
        GpuprovError: GP-CLOUD-050 when the reserved capacity cannot hold them: nothing is bought otherwise instead.
    """
    if market.kind not in RESERVED:
        return dict.fromkeys(hosts, Bought(kind=market.kind, max_price=market.max_price)), {}
    if not hosts:
        return {}, {}
    usable = [r for r in reservations if not _wrong(r, market, type_, network)]
    if not usable:
        raise refuse(
            "GP-CLOUD-050",
            _nothing(market, reservations, type_, network),
            address=address,
            detail=_listed(reservations),
            hint="name an active reservation of this type in a zone of the spec; gpuprov never buys on demand instead",
        )
    room = {r.id: r.free + freed.get(r.id, 0) for r in usable}
    placed = _place(hosts, usable, room, pinned)
    if len(placed) < len(hosts):
        raise refuse(
            "GP-CLOUD-050",
            f"{market.id or market.group} has room for {len(placed)} of {len(hosts)} new host(s) of {type_}",
            address=address,
            detail=_listed(usable),
            hint="ask for fewer hosts, enlarge the reservation, or wait until others leave it (after a host ended, it"
            " takes AWS minutes to free its place); gpuprov never buys on demand instead",
        )
    kind = market.kind
    return (
        {host: Bought(kind=kind, reservation=r.id) for host, r in placed.items()},
        {host: r.zone for host, r in placed.items()},
    )


def _place(
    hosts: Sequence[str], usable: Sequence[Reservation], room: Mapping[str, int], pinned: Mapping[str, str]
) -> dict[str, Reservation]:
    """Give each host a reservation with room: bound ones first, the others the emptiest that holds most of them."""
    taken: Counter[str] = Counter()
    placed: dict[str, Reservation] = {}
    order = sorted(usable, key=lambda r: (-room[r.id], r.id))
    for host in sorted(hosts, key=lambda name: (name not in pinned, name)):
        fitting = [r for r in order if pinned.get(host, r.zone) == r.zone and taken[r.id] < room[r.id]]
        if fitting:
            placed[host] = fitting[0]
            taken[fitting[0].id] += 1
    return placed


def _wrong(found: Reservation, market: MarketSpec, type_: str, network: CloudNetworkSpec) -> str:
    """Why a reservation cannot serve; empty when it can."""
    begins = f" and begins at {found.begins}" if found.begins else ""
    kinds = {"capacity-block": "a capacity block", "default": "a reservation and no capacity block"}
    reasons = (
        (found.kind != _KINDS[market.kind], f"it is {kinds.get(found.kind, found.kind)}"),
        (found.type != type_, f"it is for {found.type}"),
        (found.state != ACTIVE, f"it is {found.state}{begins}"),
        (found.tenancy != "default", f"its tenancy is {found.tenancy}"),
        (found.platform != _LINUX, f"it is for {found.platform}"),
        (
            bool(network.zones) and found.zone not in network.zones,
            f"it is in {found.zone}, which targets.cloud.network.zones leaves out",
        ),
    )
    return next((text for wrong, text in reasons if wrong), "")


def _nothing(market: MarketSpec, reservations: Sequence[Reservation], type_: str, network: CloudNetworkSpec) -> str:
    if market.id:
        why = (
            _wrong(reservations[0], market, type_, network) if reservations else "the account has none of that id here"
        )
        return f"{market.id} cannot hold hosts of {type_}: {why}"
    return f"no reservation of the group {market.group} can hold hosts of {type_}"


def _listed(reservations: Collection[Reservation]) -> str:
    return "\n".join(
        f"{r.id}: {r.type} in {r.zone}, {r.state}, {r.free} of {r.total} free" + (f", ends {r.ends}" if r.ends else "")
        for r in reservations
    )


def _object(values: Mapping[str, object], key: str) -> Mapping[str, object]:
    found = values.get(key)
    return found if isinstance(found, Mapping) else {}
