"""What an operand of `parity` means, and what is seen there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, overload

from gpuprov.app.access import Access
from gpuprov.app.hosts import open_inventory, pool_hosts
from gpuprov.app.named import Named, named_hosts, site_hosts
from gpuprov.app.observe import observe, split
from gpuprov.app.site import Site
from gpuprov.app.targets import CLOUD, ONPREM, cloud_names, refuse_shared_names, targets_of
from gpuprov.document.envelope import peek_kind
from gpuprov.document.snapshot_rows import RowCache, read_snapshot_rows
from gpuprov.document.snapshot_text import KIND
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Connection, Host
from gpuprov.model.progress import Report
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.parity.operands import KnownNames, Operand, OperandKind, read_operand
from gpuprov.store.files import list_files, read_text

_HEAD: Final = f'{{\n  "kind": "{KIND}"'


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """What one operand gave."""

    label: str
    snapshots: Sequence[Snapshot]
    """Those of a folder are read anew each time somebody goes through them."""
    not_observed: tuple[NotObserved, ...] = ()
    pools: Mapping[str, str] | None = None
    """Host -> pool, where the operand may hold hosts of several pools and a spec tells them apart."""
    fleet: bool = False
    """Whether the operand stands for any number of hosts, not for one."""
    live: bool = False
    """Whether the hosts were looked at just now."""


class FolderSnapshots(Sequence[Snapshot]):
    """The snapshots of a folder, read one after the other: what a fleet leaves on the disk need not fit into memory.

    Args:
        folder: its `.json` files are snapshots.
        cache: shared with the other side.

    Raises:
        GpuprovError: GP-DOC-001 without such a folder, GP-PAR-003 without a snapshot in it; while reading, GP-DOC codes
            for what is no snapshot, and GP-PAR-003 when a host occurs twice.
    """

    def __init__(self, folder: str, cache: RowCache) -> None:
        self.paths = list_files(folder, ".json")
        self._cache = cache
        if not self.paths:
            raise GpuprovError(_no_snapshots(folder))

    def __len__(self) -> int:
        return len(self.paths)

    @overload
    def __getitem__(self, index: int) -> Snapshot: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Snapshot]: ...
    def __getitem__(self, index: int | slice) -> Snapshot | Sequence[Snapshot]:
        if isinstance(index, slice):
            return [read_snapshot_file(path, self._cache) for path in self.paths[index]]
        return read_snapshot_file(self.paths[index], self._cache)

    def __iter__(self) -> Iterator[Snapshot]:
        seen: dict[str, Path] = {}
        for path in self.paths:
            snapshot = read_snapshot_file(path, self._cache)
            earlier = seen.setdefault(snapshot.host, path)
            if earlier != path:
                raise GpuprovError(_twice(snapshot.host, earlier, path))
            yield snapshot


def known_names(site: Site | None, access: Access) -> KnownNames:
    """The names that operands may have here."""
    pools = frozenset(site.spec.pools) if site else frozenset()
    targets = targets_of(site, access) if site else ("onprem",)
    in_cloud = frozenset(cloud_names(site)) if site and CLOUD in targets else frozenset()
    if access.inventory is None and (site is None or not _has_inventory(site, access)):
        return KnownNames(hosts=in_cloud, pools=pools, targets=frozenset(targets), any_host=True)
    racked = frozenset(host.name for host in open_inventory(site, access).hosts)
    return KnownNames(hosts=racked | in_cloud, pools=pools, targets=frozenset(targets))


def read_meaning(text: str, site: Site | None, access: Access) -> Operand:
    """What an operand means; for a file, no inventory is read.

    Raises:
        GpuprovError: GP-PAR-001, GP-PAR-002; GP-INV codes.
    """
    plain = read_operand(text, KnownNames(any_host=True))
    if isinstance(plain, Operand) and plain.kind is OperandKind.FILE:
        return plain
    known = known_names(site, access)
    found = read_operand(text, known)
    if isinstance(found, Diagnostic):
        raise GpuprovError(found)
    if found.name == text and text not in known.of(found.kind) and Path(text).exists():
        raise GpuprovError(_host_or_file(text))
    return found


def read_side(operand: Operand, site: Site | None, access: Access, report: Report, cache: RowCache) -> Side:
    """Look at what an operand means.

    Raises:
        GpuprovError: GP-PAR-003 for a pool or target without a spec; inventory and document errors.
    """
    if operand.kind is OperandKind.FILE:
        return _side_of_files(operand.name, site, access, cache)
    named = _hosts(operand, site, access)
    snapshots, missing = split(observe(named.hosts, None, access, report))
    return Side(
        label=operand.name if operand.kind is OperandKind.HOST else f"{operand.kind}:{operand.name}",
        snapshots=tuple(snapshots.values()),
        not_observed=(*missing.values(), *named.absent.values()),
        pools={host.name: host.pool for host in named.hosts} if operand.kind is OperandKind.TARGET else None,
        fleet=operand.kind is not OperandKind.HOST,
        live=True,
    )


def _side_of_files(name: str, site: Site | None, access: Access, cache: RowCache) -> Side:
    if not Path(name).is_dir():
        return Side(label=name, snapshots=(read_snapshot_file(Path(name), cache),))
    snapshots = FolderSnapshots(name, cache)
    return Side(label=name, snapshots=snapshots, pools=_pools(site, access), fleet=True)


def _pools(site: Site | None, access: Access) -> dict[str, str] | None:
    if site is None or (targets_of(site, access) == (ONPREM,) and not _has_inventory(site, access)):
        return None
    return {host.name: host.pool for host in spec_hosts(site, access)}


def spec_hosts(site: Site, access: Access) -> tuple[Host, ...]:
    """The hosts that a spec names, by inventory and names alone: for files, no stack is read and no host is asked.

    Raises:
        GpuprovError: GP-INV codes.
    """
    targets = targets_of(site, access)
    racked = pool_hosts(site, access)[0] if ONPREM in targets else ()
    cloud = cloud_names(site) if CLOUD in targets else {}
    refuse_shared_names([host.name for host in racked], cloud)
    made = (
        Host(name=name, pool=pool, target=CLOUD, connection=Connection(host=name, address=name))
        for name, pool in cloud.items()
    )
    return (*racked, *made)


def _has_inventory(site: Site, access: Access) -> bool:
    return access.inventory is not None or site.spec.inventory is not None


def _hosts(operand: Operand, site: Site | None, access: Access) -> Named:
    if operand.kind is OperandKind.HOST:
        return named_hosts([operand.name], site, access)
    if site is None:
        raise GpuprovError(
            Diagnostic(
                code="GP-PAR-003", address=operand.name, summary="without a spec there are no pools and no targets"
            )
        )
    if operand.kind is OperandKind.TARGET:
        return site_hosts(site, access, (operand.name,))
    everything = site_hosts(site, access, targets_of(site, access))
    pool = site.pool(operand.name).cloud
    ours = pool.names(operand.name) if pool is not None else ()
    return Named(
        hosts=tuple(host for host in everything.hosts if host.pool == operand.name),
        absent={name: found for name, found in everything.absent.items() if name in ours},
        warnings=everything.warnings,
    )


def read_snapshot_file(path: Path, cache: RowCache) -> Snapshot:
    """Read a snapshot; GpuprovError with GP-DOC-004 for another kind, which says what to do with it."""
    text = read_text(path)
    # What gpuprov wrote begins so; looking for the kind is for everything else.
    if not text.startswith(_HEAD) and (kind := peek_kind(text)) != KIND:
        raise GpuprovError(_other_kind(path, kind))
    return read_snapshot_rows(text, str(path), cache)


def _other_kind(path: Path, kind: str | None) -> Diagnostic:
    hints = {
        "Recording": f"`gpuprov snapshot --replay {path} --out snapshot.json` makes one of it",
        "Report": "a report is what parity gives; compare the snapshots that it was made of",
        "Lock": "a lock's name ends in .lock",
    }
    what = f"the file is a {kind}" if kind else "the file is no document that gpuprov wrote"
    return Diagnostic(
        code="GP-DOC-004",
        address=str(path),
        summary=f"{what}, a Snapshot is asked for",
        hint=hints.get(kind or "", "`gpuprov snapshot HOST --out FILE` writes one"),
    )


def _host_or_file(text: str) -> Diagnostic:
    return Diagnostic(
        code="GP-PAR-001",
        address=text,
        summary=f"`{text}` means 2 things: a host that ssh may know, and what lies at ./{text}",
        hint=f"write `host:{text}` or `./{text}`",
    )


def _no_snapshots(folder: str) -> Diagnostic:
    others = [path.name for suffix in (".yaml", ".yml", ".lock") for path in list_files(folder, suffix)]
    shown = ", ".join(others[:5]) + (", ..." if len(others) > 5 else "")  # noqa: PLR2004 - a line's worth
    return Diagnostic(
        code="GP-PAR-003",
        address=folder,
        summary="the folder holds no snapshot: no file in it ends in .json",
        detail=f"it holds: {shown}" if others else "",
        hint="`gpuprov snapshot --out FOLDER` writes one for each host; `--replay RECORDING` makes them of recordings",
    )


def _twice(host: str, first: Path, second: Path) -> Diagnostic:
    return Diagnostic(
        code="GP-PAR-003",
        address=host,
        summary=f"the host {host} occurs twice in one folder: {first.name} and {second.name}",
        hint="a fleet has one snapshot of each host; to compare two of one host, give both files as operands",
    )
