"""Whether a plan that was kept is still what would be done now."""

from gpuprov.model.change import Change, HostPlan, Plan
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.planned import Planned
from gpuprov.plan.guard import moved

_HINT = "make a new one with `gpuprov preview --out FILE`, and read it"


def outdated(plan: Plan, planned: Planned, *, limited: bool) -> tuple[Diagnostic, ...]:
    """Say what is not as it was when a plan was made; empty when it can be carried out as it stands.

    Args:
        plan: the kept one.
        planned: from a fresh look.
        limited: whether hosts of the plan may be missing: this run leaves them alone.
    """
    now = planned.plan
    found = []
    if plan.lock != now.lock:
        found.append(_stale("lock", "the lock is not the one that the plan was made from"))
    else:
        found += _wants(plan, now, limited=limited)
    found += _resources(plan, now)
    kept, fresh = ({host.host: host for host in each.hosts} for each in (plan, now))
    for name in now.wants:
        if name in plan.wants:
            found += _host(name, kept.get(name), fresh.get(name), plan, planned)
    return tuple(found or _rounds(plan, now, limited=limited))


def _wants(plan: Plan, now: Plan, *, limited: bool) -> list[Diagnostic]:
    others = [name for name, digest in now.wants.items() if plan.wants.get(name, digest) != digest]
    new = [name for name in now.wants if name not in plan.wants]
    gone = [] if limited else [name for name in plan.wants if name not in now.wants]
    told = (
        (others, "what these hosts must be has changed since the plan was made"),
        (new, "the plan knows nothing of these hosts; -l leaves them out"),
        (gone, "these hosts of the plan are not there any more"),
    )
    return [_stale(", ".join(names), summary) for names, summary in told if names]


def _rounds(plan: Plan, now: Plan, *, limited: bool) -> list[Diagnostic]:
    """The spec's rollout is in no want; who reads a plan relies on the order and on the drains all the same."""
    drained = [name for name in now.wants if plan.drains.get(name) != now.drains.get(name)]
    if drained:
        return [_stale(", ".join(drained), "work would be taken off these hosts in another way than the plan says")]
    if not limited and plan.order != now.order:
        return [_stale("rollout", "hosts would be changed in another order than the plan says")]
    return []


def _resources(plan: Plan, now: Plan) -> list[Diagnostic]:
    before, after = plan.resources, now.resources
    if (set(before.changes), set(before.new_hosts)) == (set(after.changes), set(after.new_hosts)):
        return []
    names = sorted({c.address for c in set(before.changes) ^ set(after.changes)})
    names += sorted({h.name for h in set(before.new_hosts) ^ set(after.new_hosts)} - set(names))
    return [_stale(", ".join(names), "in the cloud, something else would change now than the plan says")]


def _host(name: str, kept: HostPlan | None, fresh: HostPlan | None, plan: Plan, planned: Planned) -> list[Diagnostic]:
    if kept is None:
        if fresh is None or not fresh.changes:
            return []
        why = plan.excluded.get(name, "")
        return [_stale(name, f"the plan leaves this host out, and now it would be changed: {why}".rstrip(": "))]
    if not kept.changes and (fresh is None or not fresh.changes):
        return []  # nothing was planned on it, and nothing would be done
    if fresh is None:
        return [_moved(name, f"it cannot take part now: {planned.plan.excluded.get(name, 'it was not looked at')}")]
    users = [f"GPU user {user}" for user in fresh.disturbs if user not in kept.disturbs]
    shown = kept.foreseen.others if kept.foreseen else ()
    others = [f"package {move}" for move in (fresh.foreseen.others if fresh.foreseen else ()) if move not in shown]
    names = dict.fromkeys([*moved(kept, planned.snapshots[name]), *_differing(kept, fresh), *users, *others])
    return [_moved(name, "moved: " + ", ".join(names))] if names else []


def _differing(kept: HostPlan, fresh: HostPlan) -> list[str]:
    before, after = ({_key(change) for change in host.changes} for host in (kept, fresh))
    return sorted({address for address, _, _ in before ^ after})


def _key(change: Change) -> tuple[str, str, str]:
    return change.address, change.action, change.after


def _stale(address: str, summary: str) -> Diagnostic:
    return Diagnostic(code="GP-PLAN-004", address=address, summary=summary, detail="nothing was changed", hint=_HINT)


def _moved(host: str, detail: str) -> Diagnostic:
    return Diagnostic(
        code="GP-PLAN-001",
        address=host,
        summary="the host is not as it was when the plan was made; nothing was changed",
        detail=detail,
        hint=f"{_HINT}; -l leaves the host out",
    )
