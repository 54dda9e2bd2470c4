"""How the network interfaces of an instance with EFA are laid out, as the catalog's rows write it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gpuprov.catalog.load import PACKAGED, Catalog, rows
from gpuprov.catalog.rows_cloud import EfaLayoutRow

ENA: Final = "ena"
"""An interface with an address; the other kinds are EFAs."""
_FORM: Final = re.compile(r"(?P<kind>ena|efa-only|efa) (?P<first>[0-9]+)(-(?P<last>[0-9]+))?/(?P<device>[0-9]+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Interface:
    """One network interface of an instance."""

    kind: str
    """ena: an address; efa-only: RDMA without one; efa: both."""
    card: int
    """Index of its network card."""
    device: int
    """Index on the card."""


def expand(text: str) -> tuple[Interface, ...] | None:
    """The interfaces that one text of a row stands for; None for a text that is no `KIND CARD/DEVICE`."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    cards = range(int(found["first"]), int(found["last"] or found["first"]) + 1)
    return tuple(Interface(kind=found["kind"], card=card, device=int(found["device"])) for card in cards)


def interfaces(type_: str, layout: str, catalog: Catalog = PACKAGED) -> tuple[Interface, ...]:
    """The interfaces of an instance type in one layout, the primary one first; none where that is not known."""
    row = layout_of(type_, layout, catalog)
    found = tuple(_all(row)) if row is not None else ()
    return tuple(sorted(found, key=lambda each: (each.card, each.device)))


def layout_of(type_: str, layout: str, catalog: Catalog = PACKAGED) -> EfaLayoutRow | None:
    """The row of a layout; None for none, and for one that nobody verified."""
    found = (row for row in rows(EfaLayoutRow, catalog) if (row.instance, row.layout) == (type_, layout))
    return next((row for row in found if row.knows("interfaces")), None)


def _all(row: EfaLayoutRow) -> Iterator[Interface]:
    for text in row.interfaces:
        yield from expand(text) or ()
