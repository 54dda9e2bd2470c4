"""`parity`: what differs between two hosts, snapshots or targets, or between hosts and the lock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet, wants_of
from gpuprov.app.named import Named, site_hosts
from gpuprov.app.observe import observe, split
from gpuprov.app.parity_sides import Side, is_file, known_names, read_meaning, read_side, read_snapshot_file
from gpuprov.app.site import Site, open_lock, today
from gpuprov.app.staleness import refuse_stale_lock
from gpuprov.app.targets import CLOUD, ONPREM, targets_of
from gpuprov.catalog.find import component_of
from gpuprov.compare.compare import compare_snapshots, compare_want, count_common, count_comparable
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Report
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.parity.operands import Operand, OperandKind
from gpuprov.parity.types import Compared, Parity, Terms
from gpuprov.parity.verdict import judge
from gpuprov.want.expectations import expectations
from gpuprov.want.owned import owned_of


@dataclass(frozen=True, kw_only=True, slots=True)
class ParityRequest:
    """What to compare."""

    operands: tuple[str, ...]
    """None, one (against the lock) or two."""
    against_lock: bool
    site: Site | None
    access: Access


def parity(request: ParityRequest, report: Report) -> Parity:
    """Compare, and give the verdict.

    Raises:
        GpuprovError: GP-PAR codes when the operands cannot be compared; document, inventory and lock errors.
    """
    locks = [text for text in request.operands if Path(text).suffix == ".lock" or text == "lock"]
    _refuse_other_lock(locks, request.site)
    others = tuple(text for text in request.operands if text not in locks)
    if request.against_lock or locks or not request.operands:
        return _against_lock(request, others, report)
    return _side_by_side(request, others, report)


def _refuse_other_lock(locks: Sequence[str], site: Site | None) -> None:
    """A lock is compared by the spec that it was made from: only the one beside the spec says what a host must be."""
    for text in locks:
        if text != "lock" and (site is None or Path(text).resolve() != site.lock_path.resolve()):
            own = str(site.lock_path) if site else "none, since there is no spec here"
            raise GpuprovError(
                Diagnostic(
                    code="GP-PAR-003",
                    address=text,
                    summary="the lock is not the one of this spec",
                    detail=f"the spec's own lock: {own}",
                    hint=f"name its spec: `gpuprov parity --against lock -f {Path(text).parent}/gpuprov.yaml`",
                )
            )


def _against_lock(request: ParityRequest, operands: Sequence[str], report: Report) -> Parity:
    site = request.site
    if site is None:
        raise GpuprovError(
            Diagnostic(
                code="GP-PAR-003",
                summary="there is no spec, so there is no lock to compare with",
                hint="name the spec with -f; or name two hosts or snapshots: `gpuprov parity HOST_A HOST_B`",
            )
        )
    if len(operands) > 1:
        raise GpuprovError(_too_many(operands))
    lock, _ = open_lock(site)
    refuse_stale_lock(site, lock)
    operand = _operand_of(operands, request)
    targets = targets_of(site, request.access)
    if operand is not None and operand.kind is OperandKind.TARGET:
        targets = (operand.name,)
    named = _narrow(site_hosts(site, request.access, targets), operand, site)
    fleet = Fleet(hosts=named.hosts, wants=wants_of(site, lock, named.hosts), warnings=named.warnings)
    if operand is not None and operand.kind is OperandKind.FILE:
        snapshot = read_snapshot_file(Path(operand.name))
        snapshots: Mapping[str, Snapshot] = {snapshot.host: snapshot}
        missing: Mapping[str, NotObserved] = {}
    else:
        snapshots, not_seen = split(observe(fleet.hosts, fleet, request.access, report))
        missing = {**not_seen, **named.absent}
    compared = [_hold_against(fleet, snapshot) for snapshot in snapshots.values()]
    terms = Terms(today=today(), waivers=site.spec.waivers, spans=site.spec.spans, whole=operand is None)
    return judge(compared, terms, not_observed=missing.values())


def _operand_of(operands: Sequence[str], request: ParityRequest) -> Operand | None:
    if not operands:
        return None
    if is_file(operands[0]):
        return Operand(kind=OperandKind.FILE, name=operands[0])
    return read_meaning(operands[0], known_names(request.site, request.access))


def _narrow(named: Named, operand: Operand | None, site: Site) -> Named:
    """The hosts of one operand."""
    if operand is None or operand.kind in {OperandKind.FILE, OperandKind.TARGET}:
        return named
    if operand.kind is OperandKind.HOST:
        absent = {name: found for name, found in named.absent.items() if name == operand.name}
        return replace(named, hosts=tuple(h for h in named.hosts if h.name == operand.name), absent=absent)
    pool = site.pool(operand.name).cloud
    ours = pool.names(operand.name) if pool is not None else ()
    absent = {name: found for name, found in named.absent.items() if name in ours}
    return replace(named, hosts=tuple(h for h in named.hosts if h.pool == operand.name), absent=absent)


def _hold_against(fleet: Fleet, snapshot: Snapshot) -> Compared:
    want = fleet.wants.get(snapshot.host)
    if want is None:
        raise GpuprovError(
            Diagnostic(
                code="GP-PAR-003",
                address=snapshot.host,
                summary="the snapshot's host is in no pool of the spec, so the lock says nothing about it",
                detail="hosts: " + ", ".join(fleet.wants),
            )
        )
    expected = expectations(want, owned_of(snapshot))
    compared = count_comparable(expected, snapshot)
    return Compared(host=snapshot.host, findings=compare_want(expected, snapshot), facets=compared)


def _side_by_side(request: ParityRequest, operands: Sequence[str], report: Report) -> Parity:
    if len(operands) != 2:  # noqa: PLR2004 - two sides
        raise GpuprovError(_too_many(operands) if len(operands) > 1 else _one_alone(operands[0]))
    known = known_names(request.site, request.access)
    meanings = [read_meaning(text, known) for text in operands]
    first, second = (read_side(meaning, request.site, request.access, report) for meaning in meanings)
    waivers = request.site.spec.waivers if request.site else ()
    if all(meaning.kind is OperandKind.TARGET for meaning in meanings):
        compared, alone, notes = _pool_by_pool(first, second, request.site)
    else:
        compared, alone, notes = _one_with_others(first, second, operands[0]), (), ()
    missing = (*first.not_observed, *second.not_observed, *alone)
    verdict = judge(compared, Terms(today=today(), waivers=waivers, whole=False), not_observed=missing)
    return replace(verdict, diagnostics=(*verdict.diagnostics, *notes))


def _one_with_others(first: Side, second: Side, text: str) -> list[Compared]:
    if len(first.snapshots) + len(first.not_observed) > 1:
        raise GpuprovError(
            Diagnostic(
                code="GP-PAR-003",
                address=text,
                summary="the first operand must be one host or one snapshot: it is what the others are held against",
                hint=f"`gpuprov parity {text} --against lock` compares all of them with the lock;"
                " two targets are compared with each other pool by pool",
            )
        )
    if not first.snapshots:
        return []
    return [_compare(first.snapshots[0], snapshot) for snapshot in second.snapshots]


def _pool_by_pool(
    first: Side, second: Side, site: Site | None
) -> tuple[list[Compared], tuple[NotObserved, ...], tuple[Diagnostic, ...]]:
    """Compare two targets: in each pool, the first side's first host is what all its other hosts are held against.

    A pool that the spec has on one target only is told and left out; where hosts could not be seen on one side, those
    of the other are compared with nothing, and that counts.
    """
    compared: list[Compared] = []
    alone: list[NotObserved] = []
    notes: list[Diagnostic] = []
    for pool in site.spec.pools.values() if site is not None else ():
        if pool.onprem is None or pool.cloud is None:
            notes.append(_one_sided(pool.name, ONPREM if pool.cloud is None else CLOUD))
            continue
        ours, theirs = first.of_pool(pool.name), second.of_pool(pool.name)
        if not ours or not theirs:
            alone += [_alone(snapshot.host, pool.name, first if theirs else second) for snapshot in (*ours, *theirs)]
            continue
        compared += [_compare(ours[0], snapshot) for snapshot in (*ours[1:], *theirs)]
    return compared, tuple(alone), tuple(notes)


def _one_sided(pool: str, label: str) -> Diagnostic:
    return Diagnostic(
        code="GP-PAR-004",
        address=f"pools.{pool}",
        summary=f"the pool {pool} has hosts on the target {label} only; it is not compared",
        hint=f"`gpuprov parity pool:{pool} --against lock` compares it with the lock",
        severity=Severity.NOTE,
    )


def _alone(host: str, pool: str, other: Side) -> NotObserved:
    return NotObserved(
        host=host,
        code="GP-PAR-004",
        reason=f"no host of the pool {pool} could be seen on the target {other.label}, so there is nothing to compare",
        hint=f"`gpuprov parity host:{host} --against lock` compares it with the lock",
    )


def _compare(first: Snapshot, second: Snapshot) -> Compared:
    findings = compare_snapshots(first, second, component_of=component_of)
    return Compared(host=second.host, findings=findings, facets=count_common(first, second))


def _too_many(operands: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        code="GP-PAR-003",
        summary=f"{len(operands)} operands were given: {', '.join(operands)}",
        hint="give two (hosts or snapshots), or one with --against lock, or none (all hosts against the lock)",
    )


def _one_alone(text: str) -> Diagnostic:
    return Diagnostic(
        code="GP-PAR-003",
        address=text,
        summary="one operand alone cannot be compared",
        hint=f"`gpuprov parity {text} --against lock`, or name a second host or snapshot",
    )
