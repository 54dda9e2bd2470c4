"""Changes of settings: kernel settings set and put back, and what files and the unit of gpuprov bring into force."""

from typing import Final

from gpuprov.model.address import member_address
from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Absent
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.plan.cure import Cure, Scene, text_of
from gpuprov.plan.services import starts_anew
from gpuprov.want.settled import BLACKLIST, GOVERNOR, POWER_LIMIT
from gpuprov.want.tuning import LIMITS_PATH, SYSCTL_PATH, UNIT
from gpuprov.want.updates import UPDATES_PATH

_FILES: Final = frozenset({Action.WRITE, Action.DELETE})


def cure_tuning(scene: Scene, cure: Cure) -> None:
    """Add the changes of settings; call it after those of files and services, which many follow from."""
    for key, leaves in scene.members("sysctl"):
        for leaf, finding in leaves.items():
            if leaf == "configured":
                _follow(finding, SYSCTL_PATH, cure)
            elif finding.kind is FindingKind.UNKNOWN or isinstance(finding.observed, Absent):
                cure.leave([finding])  # a kernel without the setting gets none
            else:
                cure.changes.append(_set(key, finding, scene))
    for _, leaves in scene.members("limit"):
        for finding in leaves.values():
            _follow(finding, LIMITS_PATH, cure)
    blacklist = scene.at(BLACKLIST)
    if blacklist is not None:
        _follow(blacklist, UPDATES_PATH, cure)
    for address in (GOVERNOR, POWER_LIMIT):
        found = scene.at(address)
        if found is not None:
            _by_unit(found, scene, cure)


def _follow(finding: Finding, path: str, cure: Cure) -> None:
    """What a file of ours brings; where that is as wanted already, another file wins, and somebody has to look."""
    if finding.kind is FindingKind.UNKNOWN or not any(c.action in _FILES and c.subject == path for c in cure.changes):
        cure.leave([finding])


def _set(key: str, finding: Finding, scene: Scene) -> Change:
    return Change(
        address=finding.address,
        action=Action.SET if key in scene.want.pool.tuning.settings else Action.RESTORE,
        subject=key,
        before=text_of(finding.observed),
        after=text_of(finding.expected),
        reason=finding.origin,
        cost=Cost.NOTHING,
    )


def _by_unit(finding: Finding, scene: Scene, cure: Cure) -> None:
    """What the unit sets when it starts."""
    if starts_anew(UNIT, cure):
        return
    if finding.kind is FindingKind.UNKNOWN or isinstance(finding.observed, Absent):
        cure.leave([finding])
        return
    active = member_address("service", UNIT, "active")
    if scene.at(active) is not None:  # it cannot be started: that is told where it stands
        cure.leave([finding])
        return
    cure.changes.append(
        Change(
            address=finding.address,
            action=Action.RESTART,
            subject=UNIT,
            before=text_of(finding.observed),
            after=text_of(finding.expected),
            reason="changed by hand",
            cost=Cost.NOTHING,
        )
    )
