"""In what steps hosts are changed: what the spec says of each pool, with the hosts that it names."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet, open_inventory, with_password
from gpuprov.app.planning import findings_of, is_proven
from gpuprov.app.site import Site
from gpuprov.model.change import HostPlan
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Host
from gpuprov.model.planned import Planned
from gpuprov.model.snapshot import Snapshot
from gpuprov.model.waiver import Waiver
from gpuprov.rollout.batches import in_rounds
from gpuprov.rollout.container import gives_containers_gpus
from gpuprov.rollout.drain import is_drained_first
from gpuprov.rollout.types import Target
from gpuprov.rollout.window import now, refuse_closed
from gpuprov.spec.rollout import DrainSpec, RolloutSpec
from gpuprov.want.files import DAEMON_PATH
from gpuprov.want.types import HostWant

_CONTAINERS: Final = ("gpu.", "stack.driver.", "stack.container.", f'file["{DAEMON_PATH}"]', 'service["docker"]')
"""Where addresses begin that a container needs as they are wanted to see the GPUs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Steps:
    """The rollouts of pools, by name, and the hosts on which their schedulers are told."""

    rollouts: Mapping[str, RolloutSpec] = field(default_factory=dict)
    schedulers: Mapping[str, Host] = field(default_factory=dict)

    def of(self, host: Host) -> RolloutSpec:
        """The rollout of a host's pool."""
        return self.rollouts.get(host.pool) or RolloutSpec()

    def scheduler(self, host: Host) -> Host | None:
        """The host that is told to drain this one; None where it is told itself."""
        drain = self.of(host).drain
        return self.schedulers[drain.on] if drain is not None and drain.on in self.schedulers else None

    def refuse_closed(self, planned: Planned) -> None:
        """Refuse a run in which no host may be changed now; where some may, the rollout leaves out the others.

        Raises:
            GpuprovError: GP-ROLL-006 with the window of each pool.
        """
        pools = dict.fromkeys(plan.pool for plan in planned.plan.hosts if plan.changes)
        moment = now()
        closed = {pool: refuse_closed(pool, self.rollouts.get(pool) or RolloutSpec(), moment) for pool in pools}
        if pools and all(closed.values()) and planned.plan.resources.empty:
            raise GpuprovError(*(diagnostic for told in closed.values() for diagnostic in told))


def steps_of(site: Site, fleet: Fleet, planned: Planned, access: Access) -> Steps:
    """The steps of a run.

    Args:
        site: the spec.
        fleet: the hosts and their wants.
        planned: what they need.
        access: how hosts of the inventory are reached.

    Raises:
        GpuprovError: GP-INV-007 for hosts that lack the label of their pool's failure domains; GP-INV-004 for a
            scheduler that the inventory does not have.
    """
    rollouts = {name: pool.rollout for name, pool in site.spec.pools.items()}
    steps = Steps(rollouts=rollouts)
    unlabelled = [host for host in fleet.hosts if (label := steps.of(host).spread) and label not in host.variables]
    if unlabelled:
        raise GpuprovError(*(_no_label(host, str(steps.of(host).spread)) for host in unlabelled))
    wanted = {drain.on for host in _busy(fleet, planned) if (drain := steps.of(host).drain) is not None and drain.on}
    return replace(steps, schedulers=schedulers_of(site, wanted, access)) if wanted else steps


def schedulers_of(site: Site, names: Collection[str], access: Access) -> dict[str, Host]:
    """The hosts of the inventory on which schedulers are told, by name.

    Raises:
        GpuprovError: GP-INV-004 for one that the inventory does not have.
    """
    there = {host.name: host for host in open_inventory(site, replace(access, limit=None)).hosts}
    missing = sorted(set(names) - set(there))
    if missing:
        raise GpuprovError(*(_no_scheduler(name) for name in missing))
    return {name: replace(there[name], connection=with_password(there[name].connection, access)) for name in names}


def in_order(planned: Planned, fleet: Fleet, steps: Steps) -> Planned:
    """A plan that says in which rounds its hosts are changed, and what takes work off them first."""
    plans = {plan.host: plan for plan in planned.plan.hosts if plan.changes}
    targets = [
        Target(host=host, want=fleet.wants[host.name], plan=plans[host.name], steps=steps.of(host))
        for host in fleet.hosts
        if host.name in plans
    ]
    order = tuple(tuple(target.host.name for target in round_.targets) for round_ in in_rounds(targets))
    drains = {
        target.host.name: drain_words(drain)
        for target in targets
        if (drain := target.steps.drain) is not None and is_drained_first(target)
    }
    return replace(planned, plan=replace(planned.plan, order=order, drains=drains))


def drain_words(drain: DrainSpec) -> str:
    """How a host is drained, for a plan."""
    return f"{drain.by}, up to {drain.wait}"


def shows_gpus(want: HostWant, plan: HostPlan, snapshot: Snapshot, waivers: tuple[Waiver, ...]) -> bool:
    """Whether a container on the host must see the GPUs: nothing that it needs is waived, or wrong and left so."""
    if not gives_containers_gpus(want.pool):
        return False
    left = [finding.address for finding in (*plan.not_curable, *plan.unknown)]
    if waivers:
        left += [f.address for f in findings_of(want, snapshot, waivers) if f.waiver is not None]
    return not any(address.startswith(_CONTAINERS) for address in left)


def _busy(fleet: Fleet, planned: Planned) -> list[Host]:
    """Hosts that something may be done to."""
    plans = {plan.host: plan for plan in planned.plan.hosts}
    return [
        host
        for host in fleet.hosts
        if host.name in plans
        and (plans[host.name].changes or not is_proven(fleet.wants[host.name], planned.snapshots[host.name], more=True))
    ]


def _no_label(host: Host, label: str) -> Diagnostic:
    return Diagnostic(
        code="GP-INV-007",
        address=host.name,
        summary=f"the inventory gives the host no {label}, by which pools.{host.pool}.rollout.spread keeps hosts apart",
        hint=f"write `{label}: NAME` at the host or its group in the inventory",
    )


def _no_scheduler(name: str) -> Diagnostic:
    return Diagnostic(
        code="GP-INV-004",
        address=name,
        summary="the inventory has no such host, and a pool's drain is to run `scontrol` on it",
        hint="write it into the inventory, or take `on` out of the drain: each host then drains itself",
    )
