"""What an earlier run was lost before: the step is made now."""

from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.plan.cure import Cure, Scene
from gpuprov.want.owned import PENDING


def cure_pending(scene: Scene, cure: Cure) -> None:
    """Add the steps that a lost run left undone."""
    finding = scene.at(PENDING)
    if finding is None:
        return
    cure.changes += [
        Change(
            address=PENDING,
            action=Action.REPAIR,
            subject=step,
            before="as before our module settings",
            after="made anew",
            reason="an earlier run changed module settings and was lost before this",
            cost=Cost.NOTHING,
        )
        for step in scene.owned.pending
    ]
