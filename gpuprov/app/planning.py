"""From what was seen to a plan: expectations, findings with waivers, ordered changes."""

from collections.abc import Mapping
from dataclasses import replace

from gpuprov.app.host_rules import refused_hosts
from gpuprov.app.hosts import Fleet
from gpuprov.app.preflight import Preflight, preflight
from gpuprov.app.shared_files import broken_shared_files
from gpuprov.app.site import today
from gpuprov.app.terms import Terms
from gpuprov.app.unusable_disks import unusable_disks
from gpuprov.compare.compare import compare_want
from gpuprov.compare.waive import waive
from gpuprov.model.change import HostPlan, Plan
from gpuprov.model.fact import Known
from gpuprov.model.finding import Finding
from gpuprov.model.planned import Planned
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.model.waiver import Waiver
from gpuprov.plan.plan import plan_host
from gpuprov.want.expectations import expectations
from gpuprov.want.narrow import leave_alone
from gpuprov.want.owned import owned_of
from gpuprov.want.types import HostWant


def findings_of(want: HostWant, snapshot: Snapshot, waivers: tuple[Waiver, ...]) -> tuple[Finding, ...]:
    """What is not as wanted on one host, waivers applied."""
    expected = expectations(want, owned_of(snapshot))
    return waive(compare_want(expected, snapshot), waivers, today=today())


def plan_of(want: HostWant, snapshot: Snapshot, waivers: tuple[Waiver, ...]) -> HostPlan:
    """The plan of one host."""
    return plan_host(findings_of(want, snapshot, waivers), want, snapshot)


def play_want(want: HostWant, snapshot: Snapshot, waivers: tuple[Waiver, ...]) -> HostWant:
    """The want that a play works from: without what the plan leaves as it is, because of a waiver or of ignorance."""
    found = findings_of(want, snapshot, waivers)
    left = {f.address for f in found if f.waiver is not None}
    left |= {f.address for f in plan_host(found, want, snapshot).unknown}
    return leave_alone(want, left) if left else want


def is_proven(want: HostWant, snapshot: Snapshot, *, more: bool) -> bool:
    """Whether there is nothing to try on a host that is as wanted, or the last proof succeeded for this want.

    Args:
        want: the host's.
        snapshot: what was seen of it.
        more: whether there is something to try beside the verify commands.
    """
    return not (want.pool.verify or more) or snapshot.observe("gpuprov.proven") == Known(want.digest)


def plan_fleet(
    fleet: Fleet,
    snapshots: Mapping[str, Snapshot],
    not_observed: Mapping[str, NotObserved],
    *,
    lock: str,
    waivers: tuple[Waiver, ...],
    terms: Terms | None = None,
) -> Planned:
    """The plan of all hosts; those that could not be observed, or must not be changed, are left out with the reason.

    Args:
        fleet: hosts and wants.
        snapshots: what was seen, by host.
        not_observed: hosts of which there is no snapshot.
        lock: the lock's digest, or empty for a hand-back.
        waivers: of the spec.
        terms: what the user agreed to beforehand; None where nothing will be changed, and no host is refused for that.
    """
    plans = tuple(
        plan_of(fleet.wants[host.name], snapshots[host.name], waivers) for host in fleet.hosts if host.name in snapshots
    )
    judged = preflight(plans, fleet.wants, snapshots, terms) if terms else Preflight(plans=plans)
    refused = {
        **refused_hosts({plan.host: snapshots[plan.host] for plan in plans if plan.changes}),
        **judged.refused,
    }
    refused |= broken_shared_files(plans, fleet.wants) | unusable_disks(plans, fleet.wants, snapshots)
    plans = tuple(plan for plan in judged.plans if plan.host not in refused)
    not_observed = {**not_observed, **refused}
    plan = Plan(
        lock=lock,
        wants={host.name: fleet.wants[host.name].digest for host in fleet.hosts},
        hosts=plans,
        excluded={name: found.reason for name, found in not_observed.items()},
    )
    return Planned(plan=plan, snapshots=snapshots, not_observed=not_observed, told=judged.told)


def with_absent(planned: Planned, absent: Mapping[str, NotObserved]) -> Planned:
    """A plan that leaves out some more hosts, each with the reason."""
    if not absent:
        return planned
    excluded = {**planned.plan.excluded, **{name: found.reason for name, found in absent.items()}}
    return replace(
        planned, plan=replace(planned.plan, excluded=excluded), not_observed={**planned.not_observed, **absent}
    )


def with_more(planned: Planned, more: Planned) -> Planned:
    """A plan with further hosts behind its own."""
    plan = replace(
        planned.plan,
        wants={**planned.plan.wants, **more.plan.wants},
        hosts=(*planned.plan.hosts, *more.plan.hosts),
        excluded={**planned.plan.excluded, **more.plan.excluded},
    )
    return Planned(
        plan=plan,
        snapshots={**planned.snapshots, **more.snapshots},
        not_observed={**planned.not_observed, **more.not_observed},
        told=(*planned.told, *more.told),
    )


def seen_later(planned: Planned, seen: Planned) -> Planned:
    """A plan with hosts that could be looked at only after it was shown.

    What they need was not shown and not agreed to: those that need something stay left out, and say so.
    """
    found = {plan.host for plan in seen.plan.hosts}
    waiting = {plan.host: _not_shown(plan.host) for plan in seen.plan.hosts if plan.changes}
    done = tuple(plan for plan in seen.plan.hosts if not plan.changes)
    excluded = {name: reason for name, reason in planned.plan.excluded.items() if name not in found}
    missing = {name: why for name, why in planned.not_observed.items() if name not in found}
    kept = replace(planned, plan=replace(planned.plan, excluded=excluded), not_observed=missing)
    more = Planned(plan=replace(seen.plan, hosts=done), snapshots=seen.snapshots, not_observed=seen.not_observed)
    return with_absent(with_more(kept, more), waiting)


def _not_shown(host: str) -> NotObserved:
    return NotObserved(
        host=host,
        code="GP-PLAN-001",
        reason="the host could be reached only after the plan was shown; what it needs was not part of it",
        hint="run `gpuprov up` again: its plan shows the host and asks",
    )
