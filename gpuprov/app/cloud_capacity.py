"""Whether AWS can give what a plan asks for: reserved capacity, quotas, and the zones in which it is tried."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from gpuprov.app.cloud_efa import told_of_efa
from gpuprov.app.cloud_site import CloudSite
from gpuprov.cloud.decide.market import differs
from gpuprov.cloud.decide.quotas import Needed, counted_types, judge_quotas, needed
from gpuprov.cloud.decide.standing import Standing
from gpuprov.cloud.types import Document, Reservation
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.resource import ResourceAction, ResourcePlan
from gpuprov.spec.market import CAPACITY_BLOCK, ON_DEMAND, RESERVED
from gpuprov.spec.types import PoolSpec

_DENIED = "GP-CLOUD-007"


def reserved_capacity(place: CloudSite) -> dict[str, tuple[Reservation, ...]]:
    """Pool -> the reservations that its market names, for the pools that use reserved capacity.

    Raises:
        GpuprovError: AWS does not answer or refuses: without an answer nobody knows where hosts could be.
    """
    markets = {
        pool.name: pool.cloud.market
        for pool in place.site.spec.pools.values()
        if pool.cloud is not None and pool.cloud.market.kind in RESERVED
    }
    return {name: place.account.reservations(market.id, market.group) for name, market in markets.items()}


def look_at_capacity(
    place: CloudSite,
    document: Document,
    resources: ResourcePlan,
    standing: Standing,
    reserved: Mapping[str, Sequence[Reservation]],
) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """Compare what would be made with what AWS can give.

    Args:
        place: the site with its account.
        document: what the stack must be.
        resources: what the engine would do for that.
        standing: what the stack's state holds.
        reserved: from `reserved_capacity`.

    Returns:
        Why the run must not go on: GP-CLOUD-051 for each quota that is too small. What is to be known: quotas that the
        caller may not look at, hosts bought otherwise, blocks that end, zones that are tried; what `told_of_efa` tells.
    """
    refused, unseen = _small_quotas(place, document, resources, standing)
    return refused, (*unseen, *_told(place, document, resources, standing, reserved))


def _small_quotas(
    place: CloudSite, document: Document, resources: ResourcePlan, standing: Standing
) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    acting = {change.address: change.action for change in resources.changes}
    instances = cast("list[dict[str, Any]]", document["instances"])
    new = [row for row in instances if acting.get(f"instance.{row['name']}") in _MADE]
    gone = [
        (host.type, host.bought.kind)
        for name, host in standing.hosts.items()
        if acting.get(f"instance.{name}") in {ResourceAction.REPLACE, ResourceAction.DELETE}
    ]
    catalog = place.site.spec.catalog
    needs = needed(((row["name"], row["type"], _kind(row)) for row in new), gone, catalog=catalog)
    if not needs:
        return (), ()
    try:
        limits = {need.row.code: place.account.quota(need.row.code) for need in needs}
        families = {need.row.family for need in needs}
        types = {name: row for name, row in counted_types(catalog).items() if row[0] in families}
        used = place.account.vcpus_in_use(types)
    except GpuprovError as error:
        if any(diagnostic.code != _DENIED for diagnostic in error.diagnostics):
            raise
        return (), (_not_looked(needs, error),)
    return judge_quotas(needs, limits, used, region=place.cloud.region), ()


_MADE = frozenset({ResourceAction.CREATE, ResourceAction.REPLACE})


def _told(
    place: CloudSite,
    document: Document,
    resources: ResourcePlan,
    standing: Standing,
    reserved: Mapping[str, Sequence[Reservation]],
) -> tuple[Diagnostic, ...]:
    made = {change.address for change in resources.changes if change.action in _MADE}
    instances = cast("list[dict[str, Any]]", document["instances"])
    new = {row["pool"]: row for row in instances if f"instance.{row['name']}" in made}
    staying = {row["name"] for row in instances if f"instance.{row['name']}" not in made}
    told = [*told_of_efa(place.site.spec, document)]
    for pool in place.site.spec.pools.values():
        if pool.cloud is not None:
            told += _otherwise(pool, standing, staying)
            told += _ending(pool, reserved.get(pool.name, ()))
            if pool.name in new and pool.cloud.market.kind not in RESERVED:
                told += _tried(pool, place.cloud.network.zones, str(new[pool.name]["zone"]))
    return tuple(told)


def _otherwise(pool: PoolSpec, standing: Standing, staying: set[str]) -> Iterator[Diagnostic]:
    if pool.cloud is None:
        return
    for name in pool.cloud.names(pool.name):
        if name in staying and differs(pool.cloud.market, standing.hosts[name].bought):
            yield Diagnostic(
                code="GP-CLOUD-052",
                severity=Severity.NOTE,
                address=f"instance.{name}",
                summary=f"{name} stays as it was bought: {standing.hosts[name].bought.text}",
                detail=f"the spec buys new hosts of {pool.name} by {pool.cloud.market.kind}",
                hint=f"`gpuprov up --target cloud --replace {name}` buys it anew",
            )


def _ending(pool: PoolSpec, reservations: Sequence[Reservation]) -> Iterator[Diagnostic]:
    for one in reservations:
        if one.ends:
            block = one.kind == CAPACITY_BLOCK
            yield Diagnostic(
                code="GP-CLOUD-054",
                severity=Severity.NOTE,
                address=f"pools.{pool.name}.cloud.market",
                summary=f"{one.id} ends at {one.ends}"
                + (": AWS terminates its hosts from 30 minutes before that on" if block else "; hosts in it run on"),
                hint="save what is on them before" if block else "",
            )


def _tried(pool: PoolSpec, zones: Sequence[str], first: str) -> Iterator[Diagnostic]:
    later = ", ".join(zones[zones.index(first) + 1 :] if first in zones else ())
    if later:
        yield Diagnostic(
            code="GP-CLOUD-055",
            severity=Severity.NOTE,
            address=f"pools.{pool.name}.cloud",
            summary=f"new hosts of {pool.name} are tried in {first}, then in {later} where AWS has no capacity",
        )


def _kind(row: Mapping[str, Any]) -> str:
    market = row.get("market")
    return str(market["kind"]) if isinstance(market, Mapping) else ON_DEMAND


def _not_looked(needs: Sequence[Needed], error: GpuprovError) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-056",
        severity=Severity.WARNING,
        address=", ".join(need.row.code for need in needs),
        summary="the account's quotas were not looked at: the caller may not",
        detail="\n".join(diagnostic.summary for diagnostic in error.diagnostics),
        hint="allow servicequotas:GetServiceQuota; a quota that is too small then shows before anything is made",
    )
