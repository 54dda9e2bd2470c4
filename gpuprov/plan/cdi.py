"""The description of the GPUs that containers get: one that does not fit the driver is made anew (case A20)."""

from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.model.finding import FindingKind
from gpuprov.plan.cure import Cure, Scene, text_of
from gpuprov.plan.services import starts_anew
from gpuprov.want.cdi import CDI_STATE, CDI_UNIT


def cure_cdi(scene: Scene, cure: Cure) -> None:
    """Add the restart of the unit that describes the GPUs; call it after the services: a boot or a start does it."""
    finding = scene.at(CDI_STATE)
    if finding is None or starts_anew(CDI_UNIT, cure):
        return
    if finding.kind is FindingKind.UNKNOWN:
        cure.leave([finding])
        return
    before = text_of(finding.observed)
    cure.changes.append(
        Change(
            address=CDI_STATE,
            action=Action.RESTART,
            subject=CDI_UNIT,
            before=before,
            after=text_of(finding.expected),
            reason="the description names what the driver does not have" if before else "nothing describes the GPUs",
            cost=Cost.NOTHING,
        )
    )
