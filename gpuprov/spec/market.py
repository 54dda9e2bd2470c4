"""How the capacity of a pool's cloud hosts is bought, as the spec says it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.about import About

ON_DEMAND, SPOT, CAPACITY_BLOCK, RESERVATION = "on-demand", "spot", "capacity-block", "reservation"
TERMINATE: Final = "terminate"
RESERVATION_ID: Final = r"cr-[0-9a-f]{8,17}"
GROUP_ARN: Final = r"arn:aws[a-z-]*:resource-groups:[a-z0-9-]+:[0-9]{12}:group/[A-Za-z0-9._-]+(/[a-z0-9]+)?"
PRICE: Final = r"(?!0(\.0*)?$)(0|[1-9][0-9]{0,3})(\.[0-9]{1,6})?"
RESERVED: Final = frozenset({CAPACITY_BLOCK, RESERVATION})
"""Kinds that use capacity which the account has already: hosts come from there, or not at all."""

_OWN: Final = {
    ON_DEMAND: (),
    SPOT: ("max_price",),
    CAPACITY_BLOCK: ("id",),
    RESERVATION: ("id", "group"),
}
"""Kind -> its own fields, beside `on_interruption`, which says nothing of the others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MarketSpec:
    """How capacity is bought; it decides about new hosts, and those that stand stay as they were bought."""

    kind: Annotated[
        str,
        About(
            "AWS may take `spot` away; `capacity-block` and `reservation` use what the account has reserved, and "
            "never fall back to on demand. It may stand alone: `market: spot`.",
            choices=(ON_DEMAND, SPOT, CAPACITY_BLOCK, RESERVATION),
            example="spot",
        ),
    ] = ON_DEMAND
    id: Annotated[
        str,
        About("Of a capacity block or a reservation: its id.", check="reservation", example="cr-0123456789abcdef0"),
    ] = ""
    group: Annotated[
        str,
        About(
            "Of a reservation: ARN of a resource group of reservations, in place of one id; each new host takes one "
            "that has room.",
            check="group_arn",
            example='"arn:aws:resource-groups:us-east-1:111122223333:group/gpus"',
        ),
    ] = ""
    max_price: Annotated[
        str,
        About(
            "Of spot: the most that an hour may cost, in US dollars; the price on demand when left out.",
            check="price",
            example='"12.50"',
        ),
    ] = ""
    on_interruption: Annotated[
        str,
        About(
            "Of spot: what AWS does with a host that it takes back; the next `up` makes it anew when it is named with "
            "`--replace`.",
            choices=(TERMINATE,),
            later=("stop", "hibernate"),
        ),
    ] = TERMINATE


def market_problems(market: MarketSpec, at: str) -> Iterator[Diagnostic]:
    """What of a market does not go together.

    Args:
        market: the market.
        at: its address.
    """
    given = {
        "id": market.id,
        "group": market.group,
        "max_price": market.max_price,
    }
    for key, value in given.items():
        if value and key not in _OWN[market.kind]:
            kinds = [kind for kind, own in _OWN.items() if key in own]
            yield Diagnostic(
                code="GP-SPEC-005",
                summary=f"a market of the kind {market.kind} has no {key}",
                address=f"{at}.{key}",
                hint=f"take `{key}` away, or write `kind: {' or '.join(kinds)}`",
            )
    if market.kind in RESERVED and not (market.id or market.group):
        yield Diagnostic(
            code="GP-SPEC-004",
            summary=f"a market of the kind {market.kind} names no reservation",
            address=f"{at}.id",
            hint="write the id that AWS shows for it, such as `id: cr-0123456789abcdef0`",
        )
    if market.id and market.group and market.kind == RESERVATION:
        yield Diagnostic(
            code="GP-SPEC-005",
            summary="`id` and `group` say the same thing twice",
            address=f"{at}.group",
            hint="keep one of the two",
        )
