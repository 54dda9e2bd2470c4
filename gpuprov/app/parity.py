"""`parity`: what differs between two hosts or snapshots, or between hosts and the lock."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet, open_fleet, open_inventory, pool_hosts
from gpuprov.app.named import named_hosts
from gpuprov.app.observe import observe, split
from gpuprov.app.site import Site, open_lock, today
from gpuprov.app.staleness import refuse_stale_lock
from gpuprov.catalog.find import component_of
from gpuprov.compare.compare import compare_snapshots, compare_want, count_common, count_comparable
from gpuprov.document.envelope import peek_kind
from gpuprov.document.snapshot_text import read_snapshot
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Report
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.parity.operands import KnownNames, Operand, OperandKind, read_operand
from gpuprov.parity.types import Compared, Parity
from gpuprov.parity.verdict import judge
from gpuprov.store.files import read_text
from gpuprov.want.expectations import expectations
from gpuprov.want.owned import owned_of

_TARGETS: Final = frozenset({"onprem"})


@dataclass(frozen=True, kw_only=True, slots=True)
class ParityRequest:
    """What to compare."""

    operands: tuple[str, ...]
    """None, one (against the lock) or two."""
    against_lock: bool
    site: Site | None
    access: Access


@dataclass(frozen=True, kw_only=True, slots=True)
class _Side:
    """What one operand gave."""

    label: str
    snapshots: tuple[Snapshot, ...]
    not_observed: tuple[NotObserved, ...] = ()


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
    fleet = open_fleet(site, lock, request.access)
    if operands:
        fleet = _narrow(fleet, operands[0], site)
    files = [text for text in operands if _is_file(text)]
    if files:
        snapshots: dict[str, Snapshot] = {s.host: s for s in (_read(Path(file)) for file in files)}
        missing: dict[str, NotObserved] = {}
    else:
        snapshots, missing = split(observe(fleet.hosts, fleet, request.access, report))
    compared = [_hold_against(fleet, snapshot) for snapshot in snapshots.values()]
    return judge(compared, today=today(), not_observed=missing.values(), waivers=site.spec.waivers)


def _narrow(fleet: Fleet, text: str, site: Site) -> Fleet:
    """The hosts of one operand."""
    known = KnownNames(hosts=frozenset(h.name for h in fleet.hosts), pools=frozenset(site.spec.pools), targets=_TARGETS)
    operand = _operand(text, known)
    if operand.kind is OperandKind.FILE:
        return fleet
    by_pool = operand.kind is OperandKind.POOL
    hosts = tuple(
        h for h in fleet.hosts if operand.kind is OperandKind.TARGET or (h.pool if by_pool else h.name) == operand.name
    )
    return Fleet(hosts=hosts, wants=fleet.wants, warnings=fleet.warnings)


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
    known = _known_names(request)
    first, second = (_side(_operand(text, known), request, report) for text in operands)
    if len(first.snapshots) + len(first.not_observed) > 1:
        raise GpuprovError(
            Diagnostic(
                code="GP-PAR-003",
                address=operands[0],
                summary="the first operand must be one host or one snapshot: it is what the others are held against",
                hint=f"`gpuprov parity {operands[0]} --against lock` compares all of them with the lock",
            )
        )
    waivers = request.site.spec.waivers if request.site else ()
    missing = (*first.not_observed, *second.not_observed)
    if not first.snapshots:
        return judge([], today=today(), not_observed=missing, waivers=waivers)
    reference = first.snapshots[0]
    compared = [_compare(reference, snapshot) for snapshot in second.snapshots]
    return judge(compared, today=today(), not_observed=missing, waivers=waivers)


def _compare(first: Snapshot, second: Snapshot) -> Compared:
    findings = compare_snapshots(first, second, component_of=component_of)
    return Compared(host=second.host, findings=findings, facets=count_common(first, second))


def _known_names(request: ParityRequest) -> KnownNames:
    site, access = request.site, request.access
    pools = frozenset(site.spec.pools) if site else frozenset()
    if access.inventory is None and (site is None or site.spec.inventory is None):
        return KnownNames(pools=pools, targets=_TARGETS, any_host=True)
    hosts = frozenset(host.name for host in open_inventory(site, access).hosts)
    return KnownNames(hosts=hosts, pools=pools, targets=_TARGETS)


def _side(operand: Operand, request: ParityRequest, report: Report) -> _Side:
    if operand.kind is OperandKind.FILE:
        return _Side(label=operand.name, snapshots=(_read(Path(operand.name)),))
    if operand.kind is OperandKind.HOST:
        hosts, _ = named_hosts([operand.name], request.site, request.access)
    else:
        site = request.site
        if site is None:
            raise GpuprovError(_one_alone(operand.name))
        all_hosts, _ = pool_hosts(site, request.access)
        hosts = tuple(h for h in all_hosts if operand.kind is OperandKind.TARGET or h.pool == operand.name)
    snapshots, missing = split(observe(hosts, None, request.access, report))
    return _Side(label=operand.name, snapshots=tuple(snapshots.values()), not_observed=tuple(missing.values()))


def _operand(text: str, known: KnownNames) -> Operand:
    found = read_operand(text, known)
    if isinstance(found, Diagnostic):
        raise GpuprovError(found)
    return found


def _is_file(text: str) -> bool:
    found = read_operand(text, KnownNames(any_host=True))
    return isinstance(found, Operand) and found.kind is OperandKind.FILE


def _read(path: Path) -> Snapshot:
    text = read_text(path)
    if peek_kind(text) == "Recording":
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-004",
                address=str(path),
                summary="the file is a Recording, a Snapshot is asked for",
                hint=f"`gpuprov snapshot --replay {path} --out snapshot.json` makes one of it",
            )
        )
    return read_snapshot(text, str(path))


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
