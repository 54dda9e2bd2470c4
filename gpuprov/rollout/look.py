"""The second look at a host, right before it is touched."""

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.plan.guard import moved
from gpuprov.rollout.types import Target, Tools


def look_again(target: Target, seen: Snapshot | NotObserved, tools: Tools, *, freed: bool) -> tuple[Diagnostic, ...]:
    """Refuse a host that is not what the plan was made from, needs a change that nobody was shown, or is in use.

    Args:
        target: the host.
        seen: what was seen of it now.
        tools: the rooms.
        freed: whether its work is off it, where its pool says that it goes first.
    """
    if isinstance(seen, NotObserved):
        return (seen.diagnostic,)
    shown = {(change.address, change.action, change.after) for change in target.plan.changes}
    fresh = tools.plan(target, seen).changes
    unseen = [change.address for change in fresh if (change.address, change.action, change.after) not in shown]
    changed = dict.fromkeys([*moved(target.plan, seen), *unseen])
    if not changed:
        return tools.in_use(target, seen) if freed else ()
    return (
        Diagnostic(
            code="GP-PLAN-001",
            address=target.host.name,
            summary="the host moved since the plan was made; nothing was changed on it",
            detail="moved: " + ", ".join(changed),
            hint="run the same command again: it makes a new plan and shows it",
        ),
    )
