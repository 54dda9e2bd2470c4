"""The plan of a host, and of a run."""

from collections.abc import Iterable, Mapping

from gpuprov.model.change import Change, HostPlan, Plan
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.snapshot import Snapshot
from gpuprov.plan.access import cure_access
from gpuprov.plan.cdi import cure_cdi
from gpuprov.plan.containerd import cure_containerd
from gpuprov.plan.cure import Cure, Scene
from gpuprov.plan.driver import LOADED, MODELS, NOUVEAU, ON_DISK, cure_driver
from gpuprov.plan.files import cure_files
from gpuprov.plan.frameworks import cure_frameworks
from gpuprov.plan.guard import boot_id, guard_digest, read_observations
from gpuprov.plan.kept import cure_kept
from gpuprov.plan.kernel import cure_kernel
from gpuprov.plan.order import order
from gpuprov.plan.packages import cure_packages
from gpuprov.plan.pending import cure_pending
from gpuprov.plan.rights import cure_rights
from gpuprov.plan.rollback import rollback_of
from gpuprov.plan.services import cure_services
from gpuprov.plan.storage import cure_storage
from gpuprov.plan.tuning import cure_tuning
from gpuprov.want.owned import ADDRESS, owned_of
from gpuprov.want.types import HostWant, Owned

# Packages of another OS or architecture must never reach a host: with such a finding nothing at all is planned.
_FOREIGN = frozenset({"host.os", "host.arch"})
_DRIVER = frozenset({ON_DISK, LOADED, NOUVEAU})


def plan_host(findings: Iterable[Finding], want: HostWant, snapshot: Snapshot) -> HostPlan:
    """Say what has to be done on a host, in order.

    Args:
        findings: of `compare_want`, with waivers marked: a waived finding has no change.
        want: the host's.
        snapshot: the one that the findings are about.
    """
    unwaived = tuple(finding for finding in findings if finding.waiver is None)
    owned = owned_of(snapshot)
    scene = Scene(
        want=want,
        snapshot=snapshot,
        owned=owned if isinstance(owned, Owned) else Owned(),
        findings=unwaived,
    )
    cure = Cure()
    if any(finding.address in _FOREIGN for finding in unwaived):
        cure.leave(unwaived)
    else:
        cure.leave(f for f in unwaived if f.address == ADDRESS or (not f.curable and f.address != MODELS))
        cure_packages(scene, cure)
        cure_files(scene, cure)
        cure_pending(scene, cure)
        cure_storage(scene, cure)
        cure_rights(scene, cure)
        cure_kept(scene, cure)
        cure_frameworks(scene, cure)
        cure_kernel(scene, cure)
        cure_driver(scene, cure)
        cure_services(scene, cure)
        cure_containerd(scene, cure)
        cure_cdi(scene, cure)
        cure_access(scene, cure)
        cure_tuning(scene, cure)
    changes = order(cure.changes)
    reads = read_observations(_reads(changes, unwaived, cure), snapshot) if changes else {}
    boot = boot_id(snapshot)
    return HostPlan(
        host=want.host,
        pool=want.pool.pool,
        changes=changes,
        not_curable=tuple(cure.not_curable),
        unknown=tuple(cure.unknown),
        guard=guard_digest(reads, boot),
        boot_id=boot,
        reads=reads,
        rollback=rollback_of(changes, snapshot),
    )


def _reads(changes: tuple[Change, ...], findings: tuple[Finding, ...], cure: Cure) -> set[str]:
    """What the changes were computed from: the findings that they end, what they are about, the driver, the record."""
    left = {finding.address for finding in (*cure.not_curable, *cure.unknown)}
    ended = {f.address for f in findings if f.address not in left and f.kind is not FindingKind.UNKNOWN}
    return {*ended, *(change.address for change in changes), *_DRIVER, ADDRESS}


def build_plan(
    lock: str, wants: Mapping[str, str], hosts: Iterable[HostPlan], excluded: Mapping[str, str] | None = None
) -> Plan:
    """Put the plans of a run's hosts together.

    Args:
        lock: digest of the lock.
        wants: digest of each host's want.
        hosts: their plans; the order stays.
        excluded: hosts that take no part, each with the reason.
    """
    return Plan(lock=lock, wants=dict(wants), hosts=tuple(hosts), excluded=dict(excluded or {}))
