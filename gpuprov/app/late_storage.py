"""Storage that a run makes for hosts that stand already: told before the question, mounted in the same run."""

from collections.abc import Sequence
from dataclasses import replace

from gpuprov.app.ground import Grown
from gpuprov.app.hosts import Fleet
from gpuprov.app.planning import with_more
from gpuprov.app.rolling import Work, keep_documents, look_and_plan
from gpuprov.app.site import Site
from gpuprov.app.targets import made_names
from gpuprov.cloud.types import Made
from gpuprov.model.change import HostPlan
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.host import Host
from gpuprov.model.planned import Planned
from gpuprov.model.progress import Report
from gpuprov.provision.cloud_storage import storage_of
from gpuprov.spec.storage import LOCAL, SHARED, StorageSpec
from gpuprov.store.journal import Journal


def to_come(site: Site, hosts: Sequence[Host]) -> tuple[Diagnostic, ...]:
    """A note for each storage that hosts of the cloud mount once it is made: no plan of theirs can show it yet.

    Args:
        site: the spec.
        hosts: those that stand.
    """
    made, found = made_names(site), []
    for name, storage in site.spec.storage.items():
        ours = (host for host in hosts if host.name in made and name not in host.storage)
        late = [host.name for host in ours if storage.serves(host.pool)]
        if late and storage.mount and storage.kind != LOCAL:
            found.append(_note(name, storage, late))
    return tuple(found)


def as_made(hosts: Sequence[Host], made: Made) -> tuple[Host, ...]:
    """Hosts that stood before, with the storage that they have now."""
    places = storage_of(made, (host.name for host in hosts))
    return tuple(replace(host, storage=places[host.name]) for host in hosts)


def with_late_storage(work: Work, grown: Grown, planned: Planned, journal: Journal, report: Report) -> Planned:
    """The plan with what hosts that stood before do with storage that was made for them.

    Args:
        work: the run's, with the wants of before.
        grown: the hosts with the wants that they have now.
        planned: the plan so far.
        journal: keeps the new wants.
        report: where progress goes.
    """
    before = {plan.host: plan for plan in planned.plan.hosts}
    moved = tuple(
        host
        for host in work.fleet.hosts
        if host.name in before and grown.fleet.wants[host.name] != work.fleet.wants[host.name]
    )
    if not moved:
        return planned
    fleet = Fleet(hosts=moved, wants={host.name: grown.fleet.wants[host.name] for host in moved}, warnings=())
    keep_documents(journal, fleet, work.documents)
    seen = look_and_plan(fleet, work.access, report, lock=planned.plan.lock, waivers=work.waivers)
    names = {host.name for host in moved}
    kept = tuple(plan for plan in planned.plan.hosts if plan.host not in names)
    shown = tuple(_as_shown(plan, before[plan.host]) for plan in seen.plan.hosts)
    return with_more(
        replace(planned, plan=replace(planned.plan, hosts=kept)), replace(seen, plan=replace(seen.plan, hosts=shown))
    )


def _as_shown(plan: HostPlan, before: HostPlan) -> HostPlan:
    """A new plan with what apt said of the host's packages, which are the same."""
    return replace(plan, foreseen=before.foreseen, rollback=before.rollback)


def _note(name: str, storage: StorageSpec, hosts: Sequence[str]) -> Diagnostic:
    what = "it is mounted" if storage.kind == SHARED else f"it is formatted with {storage.filesystem} and mounted"
    return Diagnostic(
        code="GP-STO-001",
        address=f"storage.{name}",
        summary=f"once {name} is made, {what} at {storage.mount} on {', '.join(hosts)}, in this run",
        severity=Severity.NOTE,
    )
