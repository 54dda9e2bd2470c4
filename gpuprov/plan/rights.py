"""The part of a plan that is about who may use a mounted disk."""

from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Known
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.plan.cure import Cure, Scene
from gpuprov.want.rights import FAMILY


def cure_rights(scene: Scene, cure: Cure) -> None:
    """Add what gives groups their rights, or takes them back; call it after the disks: what is not mounted has none."""
    mounts = {mount.place: mount for mount in scene.want.pool.mounts}
    mounted = {change.after for change in cure.changes if change.action is Action.MOUNT}
    for place, leaves in scene.members(FAMILY):
        finding = leaves["entries"]
        if finding.kind is FindingKind.UNKNOWN or (finding.kind is FindingKind.MISSING and place not in mounted):
            cure.leave([finding])
        elif mounts[place].rights:
            cure.changes.append(_change(finding, Action.SET, place, ", ".join(mounts[place].rights)))
        else:
            cure.changes.append(_change(finding, Action.RESTORE, place, "others r-x"))


def _change(finding: Finding, action: Action, place: str, after: str) -> Change:
    seen = finding.observed.value if isinstance(finding.observed, Known) else []
    entries = [str(entry) for entry in seen] if isinstance(seen, list) else []
    return Change(
        address=finding.address,
        action=action,
        subject=place,
        before=", ".join(entry for entry in entries if not entry.startswith("default ")),
        after=after,
        reason=finding.origin,
        cost=Cost.NOTHING,
    )
