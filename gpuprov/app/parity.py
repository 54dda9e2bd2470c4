"""`parity`: what differs between two hosts, snapshots, fleets or targets, or between hosts, the lock and the spec."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet, wants_of
from gpuprov.app.named import Named, site_hosts
from gpuprov.app.observe import observe, split
from gpuprov.app.parity_documents import compare_locks, compare_spec_with_lock, compare_targets, hold_against_spec
from gpuprov.app.parity_fleets import Comparison, compare_fleet, compare_sides
from gpuprov.app.parity_refusals import (
    in_no_pool,
    lock_twice,
    one_alone,
    refuse_limit,
    refuse_other_lock,
    refuse_same_file,
    spec_alone,
    too_many,
    two_specs,
)
from gpuprov.app.parity_sides import FolderSnapshots, read_meaning, read_side, read_snapshot_file, spec_hosts
from gpuprov.app.site import Site, open_lock, open_site, today
from gpuprov.app.staleness import refuse_stale_lock
from gpuprov.app.switched_off import with_switched_off
from gpuprov.app.targets import targets_of
from gpuprov.compare.compare import compare_want, count_comparable
from gpuprov.document.envelope import peek_kind
from gpuprov.document.snapshot_rows import RowCache
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Host
from gpuprov.model.progress import Report
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.parity.driver import driver_facts
from gpuprov.parity.operands import Operand, OperandKind
from gpuprov.parity.types import Compared, FailOn, Parity, Terms
from gpuprov.parity.verdict import judge
from gpuprov.store.files import read_text
from gpuprov.want.empty import empty_want
from gpuprov.want.expectations import expectations
from gpuprov.want.host import host_want
from gpuprov.want.owned import owned_of
from gpuprov.want.types import FileWant, HostWant

_LOCK: Final = "lock"
_SPEC: Final = "spec"
_TWO: Final = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class ParityRequest:
    """What to compare."""

    operands: tuple[str, ...]
    """None, one (against the lock, or a folder) or two."""
    against_lock: bool
    site: Site | None
    access: Access
    static: bool = False
    """Compare what the lock would give each target; no host is looked at."""
    fail_on: frozenset[FailOn] = frozenset()
    """What has a say in the status besides what always has."""


def parity(request: ParityRequest, report: Report) -> Parity:
    """Compare, and give the verdict.

    Raises:
        GpuprovError: GP-PAR codes when the operands cannot be compared; document, inventory and lock errors.
    """
    if len(request.operands) > _TWO:
        raise GpuprovError(too_many(request.operands))
    if request.static:
        return _static(request)
    locks = [text for text in request.operands if text == _LOCK or Path(text).suffix == ".lock"]
    specs = [text for text in request.operands if text == _SPEC or _is_spec(text)]
    if request.against_lock and len(locks) + len(specs) > 0:
        raise GpuprovError(lock_twice(request.operands))
    if len(locks) == _TWO:
        return _two_locks(locks, request)
    request = _with_site_of(specs, request)
    refuse_other_lock(locks, request.site)
    others = tuple(text for text in request.operands if text not in (*locks, *specs))
    if specs:
        return _against_spec(request, others, locks, report)
    if request.against_lock or locks or not request.operands:
        return _against_lock(request, others, report)
    return _side_by_side(request, others, report)


def _static(request: ParityRequest) -> Parity:
    if request.operands or request.against_lock:
        raise GpuprovError(
            Diagnostic(
                code="GP-PAR-003",
                summary="--static compares what the lock would give each target, so it takes no operand",
                hint="leave the operands away; `gpuprov parity A.lock B.lock` compares two locks",
            )
        )
    refuse_limit(request.access.limit)
    site = _need_site(request)
    lock, _ = open_lock(site)
    refuse_stale_lock(site, lock)
    return _verdict(compare_targets(site, lock), request, between=("onprem", "cloud"))


def _two_locks(locks: Sequence[str], request: ParityRequest) -> Parity:
    paths = [_need_site(request).lock_path if text == _LOCK else Path(text) for text in locks]
    refuse_same_file(str(paths[0]), str(paths[1]))
    return _verdict(compare_locks(paths[0], paths[1]), request, between=(locks[0], locks[1]))


def _against_spec(request: ParityRequest, others: Sequence[str], locks: Sequence[str], report: Report) -> Parity:
    """Hold what was seen, or the lock, against what the spec alone asks."""
    site = _need_site(request)
    if len(locks) + len(others) != 1:
        raise GpuprovError(spec_alone(request.operands))
    if locks:
        lock, _ = open_lock(site)
        return _verdict(compare_spec_with_lock(site, lock), request, between=(_SPEC, _LOCK))
    seen = _look(request, others, lambda hosts: _asked_wants(site, hosts), report)
    pools = {host.name: host.pool for host in seen.hosts}
    compared = []
    for snapshot in seen.snapshots:
        if snapshot.host not in pools:
            raise GpuprovError(in_no_pool(snapshot.host, list(pools), _SPEC))
        held = hold_against_spec(site, site.pool(pools[snapshot.host]), snapshot)
        compared.append(replace(held, driver=driver_facts(snapshot)))
    return _verdict(Comparison(compared=compared, alone=seen.missing), request, between=(_SPEC, others[0]))


def _against_lock(request: ParityRequest, operands: Sequence[str], report: Report) -> Parity:
    site = _need_site(request)
    if len(operands) > 1:
        raise GpuprovError(too_many(operands))
    lock, _ = open_lock(site)
    refuse_stale_lock(site, lock)
    seen = _look(request, operands, lambda hosts: wants_of(site, lock, hosts), report)
    wants = wants_of(site, lock, seen.hosts)
    compared = [_hold_against(wants, snapshot) for snapshot in seen.snapshots]
    between = (_LOCK, operands[0] if operands else "all hosts")
    return _verdict(
        Comparison(compared=compared, alone=seen.missing),
        request,
        between=between,
        whole=not operands and request.access.limit is None,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """The hosts of a site that one operand means, and what was seen of them."""

    hosts: tuple[Host, ...]
    """All that the spec names there; a file's host must be among them."""
    snapshots: Sequence[Snapshot]
    missing: tuple[NotObserved, ...] = ()


def _look(
    request: ParityRequest,
    operands: Sequence[str],
    wants: Callable[[Sequence[Host]], dict[str, HostWant]],
    report: Report,
) -> _Seen:
    """Look at the hosts of an operand (all of the site without one) as their wants ask, or read them from files."""
    site = _need_site(request)
    operand = read_meaning(operands[0], site, request.access) if operands else None
    if operand is not None and operand.kind is OperandKind.FILE:
        refuse_limit(request.access.limit)
        return _read(operand.name, spec_hosts(site, request.access))
    targets = targets_of(site, request.access)
    if operand is not None and operand.kind is OperandKind.TARGET:
        targets = (operand.name,)
    named = _narrow(site_hosts(site, request.access, targets), operand, site)
    fleet = Fleet(hosts=named.hosts, wants=wants(named.hosts), warnings=named.warnings)
    snapshots, not_seen = split(observe(fleet.hosts, fleet, request.access, report))
    missing = (*not_seen.values(), *named.absent.values())
    return _Seen(hosts=named.hosts, snapshots=tuple(snapshots.values()), missing=missing)


def _asked_wants(site: Site, hosts: Sequence[Host]) -> dict[str, HostWant]:
    """Wants that say which files to look at for the spec alone; there may be no lock yet."""
    files = tuple(FileWant(path=file.path, text=file.text) for file in site.spec.files)
    return {
        host.name: host_want(replace(empty_want(host.pool, host.target, "", ""), files=files), host.name)
        for host in hosts
    }


def _read(name: str, hosts: tuple[Host, ...]) -> _Seen:
    """Read one snapshot, or those of a folder: there, hosts of the spec without a snapshot were not compared."""
    cache = RowCache()
    if not Path(name).is_dir():
        return _Seen(hosts=hosts, snapshots=(read_snapshot_file(Path(name), cache),))
    folder = FolderSnapshots(name, cache)
    there = {snapshot.host for snapshot in folder}
    missing = tuple(
        NotObserved(host=host.name, code="GP-PAR-004", reason=f"{name} has no snapshot of it")
        for host in hosts
        if host.name not in there
    )
    return _Seen(hosts=hosts, snapshots=folder, missing=missing)


def _narrow(named: Named, operand: Operand | None, site: Site) -> Named:
    """The hosts of one operand."""
    if operand is None or operand.kind is OperandKind.TARGET:
        return named
    if operand.kind is OperandKind.HOST:
        absent = {name: found for name, found in named.absent.items() if name == operand.name}
        return replace(named, hosts=tuple(h for h in named.hosts if h.name == operand.name), absent=absent)
    pool = site.pool(operand.name).cloud
    ours = pool.names(operand.name) if pool is not None else ()
    absent = {name: found for name, found in named.absent.items() if name in ours}
    return replace(named, hosts=tuple(h for h in named.hosts if h.pool == operand.name), absent=absent)


def _hold_against(wants: Mapping[str, HostWant], snapshot: Snapshot) -> Compared:
    want = wants.get(snapshot.host)
    if want is None:
        raise GpuprovError(in_no_pool(snapshot.host, list(wants), _LOCK))
    expected = expectations(want, owned_of(snapshot))
    return Compared(
        host=snapshot.host,
        findings=compare_want(expected, snapshot),
        facets=count_comparable(expected, snapshot),
        driver=driver_facts(snapshot),
        taken=snapshot.taken,
    )


def _side_by_side(request: ParityRequest, operands: Sequence[str], report: Report) -> Parity:
    site, access, cache = request.site, request.access, RowCache()
    meanings = [read_meaning(text, site, access) for text in operands]
    if all(meaning.kind is OperandKind.FILE for meaning in meanings):
        refuse_limit(access.limit)
    if len(operands) == 1:
        if meanings[0].kind is not OperandKind.FILE or Path(operands[0]).is_file():
            raise GpuprovError(one_alone(operands[0]))
        side = read_side(meanings[0], site, access, report, cache)
        return _verdict(compare_fleet(side), request, between=(side.label, side.label))
    if all(meaning.kind is OperandKind.FILE for meaning in meanings):
        refuse_same_file(meanings[0].name, meanings[1].name)
    first, second = (read_side(meaning, site, access, report, cache) for meaning in meanings)
    found = compare_sides(first, second, site)
    missing = (*first.not_observed, *second.not_observed, *found.alone)
    return _verdict(replace(found, alone=missing), request, between=(first.label, second.label))


def _verdict(found: Comparison, request: ParityRequest, *, between: tuple[str, str], whole: bool = False) -> Parity:
    spec = request.site.spec if request.site is not None else None
    terms = Terms(
        today=today(),
        waivers=spec.waivers if spec is not None else (),
        spans=spec.spans if spec is not None else {},
        fail_on=request.fail_on,
        whole=whole,
        between=between,
    )
    verdict = judge(found.compared, terms, not_observed=with_switched_off(request.site, found.alone))
    return replace(verdict, diagnostics=(*verdict.diagnostics, *found.notes))


def _need_site(request: ParityRequest) -> Site:
    if request.site is not None:
        return request.site
    raise GpuprovError(
        Diagnostic(
            code="GP-PAR-003",
            summary="there is no spec, so there is no lock to compare with",
            hint="name the spec with -f; or name two hosts or snapshots: `gpuprov parity HOST_A HOST_B`",
        )
    )


def _is_spec(text: str) -> bool:
    """Whether an operand is a file that people wrote: such a document has no kind."""
    path = Path(text)
    return path.suffix in {".yaml", ".yml"} and path.is_file() and peek_kind(read_text(path)) is None


def _with_site_of(specs: Sequence[str], request: ParityRequest) -> ParityRequest:
    """A spec that is an operand is the site's own, or the site where there is no other.

    Raises:
        GpuprovError: GP-PAR-003 for two specs, or another than the site's.
    """
    files = [Path(text) for text in specs if text != _SPEC]
    if len(specs) > 1:
        raise GpuprovError(two_specs(specs))
    if not files:
        return request
    if request.site is None:
        return replace(request, site=open_site(files[0]))
    if files[0].resolve() != request.site.path.resolve():
        raise GpuprovError(two_specs([str(request.site.path), *specs]))
    return request
