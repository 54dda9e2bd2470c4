"""Hold the hosts of one side against those of another: one against many, fleet against fleet, before against after."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gpuprov.app.parity_sides import Side
from gpuprov.app.site import Site
from gpuprov.app.targets import CLOUD, ONPREM
from gpuprov.catalog.find import component_of
from gpuprov.compare.compare import compare_snapshots
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.parity.driver import driver_facts, tells_driver
from gpuprov.parity.groups import group_hosts
from gpuprov.parity.types import Compared, DriverFacts

_BEFORE_AFTER = ("before", "after")


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """What was compared, what had nothing to be compared with, and what is worth a note."""

    compared: Sequence[Compared]
    alone: tuple[NotObserved, ...] = ()
    notes: tuple[Diagnostic, ...] = ()


@dataclass(kw_only=True, slots=True)
class _Part:
    """The first side's hosts of one pool (all of them, where there are no pools), held against one of them."""

    reference: Snapshot
    driver: DriverFacts
    """The reference's."""
    compared: list[Compared] = field(default_factory=list)


def compare_sides(first: Side, second: Side, site: Site | None) -> Comparison:
    """Compare two sides.

    One host or snapshot is what all of the other side are held against. Of a fleet, it is the host that most others are
    equal to, pool by pool; where both sides have snapshots of the same hosts, each is compared with itself.

    Raises:
        GpuprovError: GP-PAR-003 when a host that was looked at just now is on both sides of two fleets.
    """
    if not first.fleet:
        return _one_with_others(first, second)
    pooled = first.pools is not None and second.pools is not None
    hosts, parts = _parts(first, pooled=pooled)
    shared = [snapshot.host for snapshot in second.snapshots if snapshot.host in hosts]
    if shared and (first.live or second.live):
        raise GpuprovError(_on_both_sides(shared, first, second))
    if shared:
        return _before_after(first, second, hosts)
    return _pool_by_pool(first, second, parts, _one_sided_pools(site) if pooled else None)


def compare_fleet(side: Side) -> Comparison:
    """Compare the hosts of one fleet with each other: each with the one that most others are equal to."""
    hosts, parts = _parts(side, pooled=side.pools is not None)
    alone = tuple(
        _alone(part.reference.host, pool, side.label, other=True) for pool, part in parts.items() if not part.compared
    )
    return Comparison(compared=_in_order(hosts, parts.values()), alone=alone)


def _one_with_others(first: Side, second: Side) -> Comparison:
    if not first.snapshots:
        return Comparison(compared=())
    part = _part(first.snapshots[0])
    # A folder may hold the reference itself, which would agree with itself and prove nothing.
    itself = (part.reference.host, part.reference.taken) if second.fleet else None
    return Comparison(compared=[_compare(part, s) for s in second.snapshots if (s.host, s.taken) != itself])


def _parts(side: Side, *, pooled: bool) -> tuple[dict[str, int], dict[str, _Part]]:
    """Hold a fleet's hosts against the one that most of them are equal to, pool by pool.

    Returns:
        The hosts with their places, and the parts by pool.
    """
    hosts: dict[str, int] = {}
    parts: dict[str, _Part] = {}
    for place, snapshot in enumerate(side.snapshots):
        hosts[snapshot.host] = place
        _add(parts, _pool(side, snapshot.host, pooled=pooled), snapshot, side.label)
    better = {pool: chosen for pool, part in parts.items() if (chosen := _usual(part)) != part.reference.host}
    if not better:
        return hosts, parts
    # The first host is an odd one: go through them again, held against one of the many.
    for pool, host in better.items():
        parts[pool] = _part(side.snapshots[hosts[host]])
    for snapshot in side.snapshots:
        pool = _pool(side, snapshot.host, pooled=pooled)
        if pool in better:
            _add(parts, pool, snapshot, side.label)
    return hosts, parts


def _pool(side: Side, host: str, *, pooled: bool) -> str:
    return side.pools.get(host, "") if pooled and side.pools is not None else ""


def _add(parts: dict[str, _Part], pool: str, snapshot: Snapshot, basis: str) -> None:
    part = parts.get(pool)
    if part is None:
        parts[pool] = _part(snapshot)
    elif part.reference.host != snapshot.host:
        part.compared.append(_compare(part, snapshot, basis=basis))


def _part(reference: Snapshot) -> _Part:
    return _Part(reference=reference, driver=driver_facts(reference))


def _usual(part: _Part) -> str:
    """The host that most are equal to in what counts: the reference, where no other group is larger than its own."""
    itself = Compared(host=part.reference.host, findings=(), facets=1)
    return group_hosts([itself, *part.compared])[0].hosts[0]


def _pool_by_pool(
    first: Side, second: Side, parts: dict[str, _Part], one_sided_pools: dict[str, Diagnostic] | None
) -> Comparison:
    """Hold every host of the second side against the first side's usual one of the same pool.

    A pool that the spec has on one target only is told and left out; where hosts could not be seen on one side, those
    of the other are compared with nothing, and that counts.

    Args:
        first: what is held against.
        second: the hosts that the findings are about.
        parts: the first side's, by pool.
        one_sided_pools: pools to leave out, with the note about each; None where pools do not count.
    """
    pooled, left_out = one_sided_pools is not None, one_sided_pools or {}
    compared: dict[str, list[Compared]] = {pool: part.compared for pool, part in parts.items()}
    met: set[str] = set()
    alone: list[NotObserved] = []
    for snapshot in second.snapshots:
        pool = _pool(second, snapshot.host, pooled=pooled)
        if pool in left_out:
            continue
        if pool not in parts:
            alone.append(_alone(snapshot.host, pool, first.label))
            continue
        met.add(pool)
        compared[pool].append(_compare(parts[pool], snapshot, basis=first.label))
    for pool, part in parts.items():
        if pool not in met and pool not in left_out:
            hosts = (part.reference.host, *(host.host for host in part.compared))
            alone += [_alone(host, pool, second.label) for host in hosts]
    return Comparison(
        compared=[host for pool in parts if pool in met for host in compared[pool]],
        alone=tuple(alone),
        notes=tuple(left_out.values()),
    )


def _before_after(first: Side, second: Side, hosts: dict[str, int]) -> Comparison:
    """Compare each host with itself: snapshots of the same hosts at two times."""
    compared: list[Compared] = []
    alone: list[NotObserved] = []
    for snapshot in second.snapshots:
        place = hosts.pop(snapshot.host, None)
        if place is None:
            alone.append(_alone(snapshot.host, "", first.label))
        else:
            compared.append(_compare(_part(first.snapshots[place]), snapshot))
    alone += [_alone(host, "", second.label) for host in hosts]
    return Comparison(compared=compared, alone=tuple(alone))


def _compare(part: _Part, second: Snapshot, *, basis: str = "") -> Compared:
    first = part.reference
    again = first.host == second.host
    found = compare_snapshots(
        first, second, component_of=component_of, sides=_BEFORE_AFTER if again else None, basis=basis
    )
    same = not any(tells_driver(finding.address) for finding in found.findings)
    return Compared(
        host=second.host,
        findings=found.findings,
        facets=found.facets,
        driver=part.driver if same else driver_facts(second),
        taken=second.taken,
    )


def _in_order(hosts: dict[str, int], parts: Iterable[_Part]) -> list[Compared]:
    return sorted((host for part in parts for host in part.compared), key=lambda host: hosts[host.host])


def _one_sided_pools(site: Site | None) -> dict[str, Diagnostic]:
    found = {}
    for pool in site.spec.pools.values() if site is not None else ():
        if pool.onprem is None or pool.cloud is None:
            found[pool.name] = one_sided(pool.name, ONPREM if pool.cloud is None else CLOUD)
    return found


def one_sided(pool: str, target: str) -> Diagnostic:
    """The note about a pool that the spec has on one target only."""
    return Diagnostic(
        code="GP-PAR-004",
        address=f"pools.{pool}",
        summary=f"the pool {pool} has hosts on the target {target} only; it is not compared",
        hint=f"`gpuprov parity pool:{pool} --against lock` compares it with the lock",
        severity=Severity.NOTE,
    )


def _alone(host: str, pool: str, place: str, *, other: bool = False) -> NotObserved:
    what = "no other host" if other else "no host"
    where = f"{what} of the pool {pool} could be seen in {place}" if pool else f"{place} has {what} to compare it with"
    return NotObserved(
        host=host,
        code="GP-PAR-004",
        reason=f"{where}, so there is nothing to compare",
        hint=f"`gpuprov parity host:{host} --against lock` compares it with the lock",
    )


def _on_both_sides(hosts: Sequence[str], first: Side, second: Side) -> Diagnostic:
    return Diagnostic(
        code="GP-PAR-003",
        address=hosts[0],
        summary=f"{len(hosts)} host(s) are on both sides, {first.label} and {second.label}: {', '.join(hosts[:6])}",
        hint="give sides that share no host, or snapshots of two times: `gpuprov snapshot --out FOLDER`",
    )
