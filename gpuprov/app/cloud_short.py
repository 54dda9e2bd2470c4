"""A fleet that AWS gave in part: the next zone that the spec names, or fewer hosts where the spec says how many do."""

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from gpuprov.app.cloud_site import Stack
from gpuprov.cloud.events import PHASE
from gpuprov.cloud.types import Applied, Document
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Progress, Report
from gpuprov.model.resource import ResourceChange
from gpuprov.spec.market import RESERVED
from gpuprov.spec.types import Spec

_CAPACITY: Final = "GP-CLOUD-008"
_PARTIAL: Final = frozenset({_CAPACITY, "GP-CLOUD-009", "GP-CLOUD-010", "GP-CLOUD-016", "GP-CLOUD-024"})
"""Failures of one instance that say nothing of the others: no capacity, a quota, an instance that fails.

Credentials and permissions are everybody's."""


def apply_in_zones(
    stack: Stack,
    spec: Spec,
    document: Document,
    decide: Callable[[tuple[str, ...], Mapping[str, frozenset[str]]], Document],
    *,
    named: tuple[str, ...],
    report: Report,
    cancel: threading.Event,
    refresh: bool,
) -> Applied:
    """Apply a document, in the zones of the spec one after the other while AWS has no capacity; enough hosts will do.

    Args:
        stack: the stack.
        spec: says the zones, and how many hosts are enough.
        document: what was shown.
        decide: the document anew: with names of what is made anew, and the zones to leave out, by instance type.
        named: names of what is made anew at first.
        report: where progress goes.
        cancel: set to stop after what is in flight.
        refresh: whether every resource is read from AWS first.
    """
    changed: dict[str, ResourceChange] = {}
    tried: dict[str, frozenset[str]] = {}
    held: tuple[Diagnostic, ...] = ()
    asked = named
    while True:
        applied = stack.apply(
            document, replace=named, report=report, cancel=cancel, refresh=refresh, keep_going=keeps_going(spec)
        )
        # What was made and then made again in another zone was made once, to whoever reads the result.
        changed = {change.address: change for change in applied.changed} | changed
        applied = replace(applied, changed=tuple(changed.values()))
        more = None if cancel.is_set() else next_zones(spec, document, applied, tried)
        if more is None:
            break
        named = fresh_volumes(document, applied, asked)
        try:
            document = decide(named, more)
        except GpuprovError:
            # No zone that is left offers the type, or serves: what AWS said of the last one is the cause.
            held = held_by_volumes(document, applied)
            break
        tried = more
        report(Progress(phase=PHASE, subject=spec.name, text=moved_on(tried).summary))
    applied = within_min_hosts(spec, document, applied)
    return replace(applied, diagnostics=(*([moved_on(tried)] if tried else []), *held, *applied.diagnostics))


def keeps_going(spec: Spec) -> bool:
    """Whether the engine goes on past a failed resource: some pool is served by fewer hosts than it asks for."""
    return any(pool.cloud is not None and pool.cloud.min_hosts is not None for pool in spec.pools.values())


def next_zones(
    spec: Spec, document: Document, applied: Applied, tried: Mapping[str, frozenset[str]]
) -> dict[str, frozenset[str]] | None:
    """The zones to leave out by now, by instance type, so that pools without a single host are tried in their next one.

    Hosts of a pool stand together, so a pool that came up in part stays where it is.

    Args:
        spec: its `network.zones` are the alternatives; without them there are none.
        document: what was asked for.
        applied: how that ended.
        tried: what was left out so far.

    Returns:
        None where no pool has a zone left, or something else than capacity failed.
    """
    errors = _errors(applied)
    zones = spec.cloud.network.zones if spec.cloud is not None else ()
    if not errors or not zones or any(error.code != _CAPACITY for error in errors):
        return None
    failed = _failed(document, errors)
    standing = {host.pool for host in applied.made.hosts}
    out = dict(tried)
    for row in failed.values():
        pool = spec.pools[row["pool"]]
        if pool.cloud is None or row["pool"] in standing or pool.cloud.market.kind in RESERVED:
            return None
        out[row["type"]] = out.get(row["type"], frozenset()) | {row["zone"]}
        if not set(zones) - out[row["type"]]:
            return None
    return out if failed else None


def fresh_volumes(document: Document, applied: Applied, asked: Collection[str] = ()) -> tuple[str, ...]:
    """Volumes (`STORAGE/HOST`) of hosts that could not be made: those that this very run made, and nothing used.

    Args:
        document: what was asked for.
        applied: how that ended.
        asked: names of volumes that may be made anew in any case.
    """
    made = {host.name for host in applied.made.hosts}
    changed = {change.address for change in applied.changed}
    volumes = cast("list[dict[str, Any]]", document["volumes"])
    free = changed | {f"volume.{name}" for name in asked}
    return tuple(row["name"] for row in volumes if row["host"] not in made and f"volume.{row['name']}" in free)


def held_by_volumes(document: Document, applied: Applied) -> tuple[Diagnostic, ...]:
    """What is told of hosts that were tried in one zone alone, because volumes of an earlier run stand there."""
    made, fresh = {host.name for host in applied.made.hosts}, fresh_volumes(document, applied)
    rows = cast("list[dict[str, Any]]", document["volumes"])
    names = [row["name"] for row in rows if row["host"] not in made and row["name"] not in fresh]
    if not names:
        return ()
    return (
        Diagnostic(
            code="GP-CLOUD-055",
            severity=Severity.NOTE,
            summary=f"no other zone was tried: hosts stay where their volumes are ({', '.join(names)})",
            hint="where nothing is on them, they can be made anew in a zone with capacity: `gpuprov up --target cloud "
            + " ".join(f"--replace {name}" for name in names)
            + "`",
        ),
    )


def within_min_hosts(spec: Spec, document: Document, applied: Applied) -> Applied:
    """The outcome, with the failures of single hosts as warnings where each pool has as many as it must."""
    errors = _errors(applied)
    failed = _failed(document, errors)
    if not errors or len(failed) < len({error.address for error in errors}):
        return applied
    if any(error.code not in _PARTIAL for error in errors):
        return applied
    good = {host.name for host in applied.made.hosts} - {row["name"] for row in failed.values()}
    told = []
    for name, hosts in _short_pools(document, good).items():
        pool = spec.pools[name].cloud
        here = sum(1 for host in applied.made.hosts if host.pool == name and host.name in good)
        if pool is None or pool.min_hosts is None or here < pool.min_hosts:
            return applied
        told.append(_short(name, hosts, here, pool.min_hosts))
    others = tuple(replace(d, severity=Severity.WARNING) if d in errors else d for d in applied.diagnostics)
    return replace(applied, diagnostics=(*others, *told))


def moved_on(tried: Mapping[str, frozenset[str]]) -> Diagnostic:
    """What is told when the next zone is tried."""
    where = "; ".join(f"{type_} in {', '.join(sorted(zones))}" for type_, zones in sorted(tried.items()))
    return Diagnostic(
        code="GP-CLOUD-055",
        severity=Severity.NOTE,
        summary=f"AWS has no capacity for {where}; the next zone of targets.cloud.network.zones was tried",
    )


def _errors(applied: Applied) -> tuple[Diagnostic, ...]:
    return tuple(d for d in applied.diagnostics if d.severity is Severity.ERROR)


def _failed(document: Document, errors: tuple[Diagnostic, ...]) -> dict[str, dict[str, Any]]:
    """Host -> its entry, for the errors that are about instances."""
    rows = {f"instance.{row['name']}": row for row in cast("list[dict[str, Any]]", document["instances"])}
    return {error.address: rows[error.address] for error in errors if error.address in rows}


def _short_pools(document: Document, good: Collection[str]) -> dict[str, list[str]]:
    """Pool -> hosts that the document asks for and that are not good: they failed, or were not begun."""
    found: dict[str, list[str]] = {}
    for row in cast("list[dict[str, Any]]", document["instances"]):
        if row["name"] not in good:
            found.setdefault(row["pool"], []).append(row["name"])
    return found


def _short(pool: str, missing: list[str], here: int, least: int) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-053",
        severity=Severity.WARNING,
        address=f"pools.{pool}.cloud.min_hosts",
        summary=f"{pool} has {here} of {here + len(missing)} hosts; the run goes on, for {least} are enough",
        detail=f"missing: {', '.join(missing)}",
        hint="`gpuprov up --target cloud` tries the others again",
    )
