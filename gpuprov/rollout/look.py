"""The second look at a host, right before it is touched."""

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.plan.guard import moved
from gpuprov.rollout.types import Target, Tools


def look_again(target: Target, seen: Snapshot | NotObserved, tools: Tools) -> tuple[Diagnostic, ...]:
    """Refuse a host that is not what the plan was made from, or needs a change that nobody was shown."""
    if isinstance(seen, NotObserved):
        return (seen.diagnostic,)
    shown = {(change.address, change.action, change.after) for change in target.plan.changes}
    fresh = tools.plan(target, seen).changes
    unseen = [change.address for change in fresh if (change.address, change.action, change.after) not in shown]
    changed = dict.fromkeys([*moved(target.plan, seen), *unseen])
    if not changed:
        return ()
    return (
        Diagnostic(
            code="GP-PLAN-001",
            address=target.host.name,
            summary="the host moved since the plan was made; nothing was changed on it",
            detail="moved: " + ", ".join(changed),
            hint="run `gpuprov up` again: it makes a new plan and shows it",
        ),
    )
