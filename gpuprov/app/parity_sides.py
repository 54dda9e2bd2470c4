"""What an operand of `parity` means, and what is seen there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.hosts import open_inventory
from gpuprov.app.named import Named, named_hosts, site_hosts
from gpuprov.app.observe import observe, split
from gpuprov.app.site import Site
from gpuprov.app.targets import CLOUD, cloud_names, targets_of
from gpuprov.document.envelope import peek_kind
from gpuprov.document.snapshot_text import read_snapshot
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Report
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.parity.operands import KnownNames, Operand, OperandKind, read_operand
from gpuprov.store.files import read_text


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """What one operand gave."""

    label: str
    snapshots: tuple[Snapshot, ...]
    not_observed: tuple[NotObserved, ...] = ()
    pools: Mapping[str, str] = field(default_factory=dict)
    """Host -> pool, where the spec says so."""

    def of_pool(self, pool: str) -> tuple[Snapshot, ...]:
        """The snapshots of one pool's hosts."""
        return tuple(snapshot for snapshot in self.snapshots if self.pools.get(snapshot.host) == pool)


def known_names(site: Site | None, access: Access) -> KnownNames:
    """The names that operands may have here."""
    pools = frozenset(site.spec.pools) if site else frozenset()
    targets = targets_of(site, access) if site else ("onprem",)
    in_cloud = frozenset(cloud_names(site)) if site and CLOUD in targets else frozenset()
    if access.inventory is None and (site is None or site.spec.inventory is None):
        return KnownNames(hosts=in_cloud, pools=pools, targets=frozenset(targets), any_host=True)
    racked = frozenset(host.name for host in open_inventory(site, access).hosts)
    return KnownNames(hosts=racked | in_cloud, pools=pools, targets=frozenset(targets))


def read_meaning(text: str, known: KnownNames) -> Operand:
    """What an operand means.

    Raises:
        GpuprovError: GP-PAR-001, GP-PAR-002.
    """
    found = read_operand(text, known)
    if isinstance(found, Diagnostic):
        raise GpuprovError(found)
    return found


def is_file(text: str) -> bool:
    """Whether an operand is a file, whatever names there are."""
    found = read_operand(text, KnownNames(any_host=True))
    return isinstance(found, Operand) and found.kind is OperandKind.FILE


def read_side(operand: Operand, site: Site | None, access: Access, report: Report) -> Side:
    """Look at what an operand means.

    Raises:
        GpuprovError: GP-PAR-003 for a pool or target without a spec; inventory and document errors.
    """
    if operand.kind is OperandKind.FILE:
        return Side(label=operand.name, snapshots=(read_snapshot_file(Path(operand.name)),))
    named = _hosts(operand, site, access)
    snapshots, missing = split(observe(named.hosts, None, access, report))
    return Side(
        label=operand.name,
        snapshots=tuple(snapshots.values()),
        not_observed=(*missing.values(), *named.absent.values()),
        pools={host.name: host.pool for host in named.hosts},
    )


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


def read_snapshot_file(path: Path) -> Snapshot:
    """Read a snapshot; GpuprovError with GP-DOC-004 for a recording, which says how to make one of it."""
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
