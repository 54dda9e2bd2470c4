"""The package archives that a host keeps for a rollback: they go when it is handed back."""

from typing import Final

from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.plan.cure import Cure, Scene
from gpuprov.want.expectations import HAND_BACK
from gpuprov.want.owned import ARCHIVES

KEPT: Final = "/var/lib/gpuprov/rollback"
"""The folder of the archives."""


def cure_kept(scene: Scene, cure: Cure) -> None:
    """Add the removal of the archives."""
    finding = scene.at(ARCHIVES)
    if finding is None:
        return
    cure.changes.append(
        Change(
            address=ARCHIVES,
            action=Action.DELETE,
            subject=KEPT,
            before=f"{scene.owned.archived / 10**6:.1f} MB of package archives",
            after="",
            reason=HAND_BACK,
            cost=Cost.NOTHING,
        )
    )
