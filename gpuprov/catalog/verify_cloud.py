"""Checks over the tables about buying and wiring cloud instances: references, forms, and counts."""

import re
from collections.abc import Iterator
from typing import Final

from gpuprov.catalog.efa import ENA, expand
from gpuprov.catalog.find import instance
from gpuprov.catalog.load import Catalog, rows
from gpuprov.catalog.rows import InstanceRow
from gpuprov.catalog.rows_cloud import EfaLayoutRow, PriceRow, QuotaRow, RateRow

_DAY: Final = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}")
_UNITS: Final = frozenset({"hour", "GiB-month", "IOPS-month", "MiB/s-month"})
_CODE: Final = re.compile(r"L-[0-9A-F]{8}")


def cloud_problems(catalog: Catalog) -> Iterator[str]:
    """Everything that is wrong with these tables, one sentence each, begun with the table."""
    yield from _prices(catalog)
    yield from _rates(catalog)
    yield from _quotas(catalog)
    yield from _layouts(catalog)


def _prices(catalog: Catalog) -> Iterator[str]:
    seen: dict[tuple[str, str, str], str] = {}
    for row in rows(PriceRow, catalog):
        if instance(row.instance, catalog) is None:
            yield f"prices: {row.id} is of the unknown instance type {row.instance}"
        if row.offer not in {"on-demand", "capacity-block"}:
            yield f"prices: {row.id} has the unknown offer {row.offer}"
        if row.usd_hour is not None and row.usd_hour <= 0:
            yield f"prices: {row.id} costs nothing"
        if not _DAY.fullmatch(row.since):
            yield f"prices: {row.id} does not say since when, as YYYY-MM-DD"
        first = seen.setdefault((row.instance, row.offer, row.region), row.id)
        if first != row.id:
            yield f"prices: {row.id} and {first} price the same"


def _rates(catalog: Catalog) -> Iterator[str]:
    seen: dict[tuple[str, str], str] = {}
    for row in rows(RateRow, catalog):
        part, _, region = row.id.partition("/")
        if region and region != row.region:
            yield f"rates: {row.id} is of the region {row.region or '(all)'}"
        if row.unit not in _UNITS:
            yield f"rates: {row.id} has the unknown unit {row.unit}"
        if row.usd is not None and row.usd <= 0:
            yield f"rates: {row.id} costs nothing"
        if not _DAY.fullmatch(row.since):
            yield f"rates: {row.id} does not say since when, as YYYY-MM-DD"
        first = seen.setdefault((part, row.region), row.id)
        if first != row.id:
            yield f"rates: {row.id} and {first} price the same"


def _quotas(catalog: Catalog) -> Iterator[str]:
    found = rows(QuotaRow, catalog)
    for row in found:
        if not _CODE.fullmatch(row.code) or row.offer not in {"on-demand", "spot"}:
            yield f"quotas: {row.id} has no code of Service Quotas, or an unknown offer"
    known = {row.family for row in found if row.offer == "on-demand"}
    for family in sorted({row.quota for row in rows(InstanceRow, catalog) if row.quota} - known):
        yield f"quotas: there is no quota of the family {family}, which instances count in"


def _layouts(catalog: Catalog) -> Iterator[str]:
    for row in rows(EfaLayoutRow, catalog):
        of = instance(row.instance, catalog)
        if of is None or row.layout not in {"ip", "bandwidth"}:
            yield f"efa_layouts: {row.id} is of an unknown instance type or layout"
            continue
        places: list[tuple[int, int]] = []
        efa = 0
        for text in row.interfaces:
            found = expand(text)
            if found is None:
                yield f"efa_layouts: {row.id} has the interface {text}, which is not KIND CARD/DEVICE"
                continue
            places += [(each.card, each.device) for each in found]
            efa += sum(each.kind != ENA for each in found)
        if row.knows("interfaces") and (0, 0) not in places:
            yield f"efa_layouts: {row.id} has no interface 0/0, which every instance starts with"
        if len(set(places)) != len(places):
            yield f"efa_layouts: {row.id} has two interfaces at one place"
        if of.network_cards is not None and any(card >= of.network_cards for card, _ in places):
            yield f"efa_layouts: {row.id} uses a card that {row.instance} has not"
        if of.efa_interfaces is not None and efa > of.efa_interfaces:
            yield f"efa_layouts: {row.id} has {efa} interfaces with EFA, and {row.instance} takes {of.efa_interfaces}"
