"""Changes of packages: repair, install, upgrade, downgrade, remove, hold, release."""

from gpuprov.model.address import member_address
from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Absent, Known
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.version import compare
from gpuprov.plan.cure import Cure, Scene, text_of
from gpuprov.want.expectations import GONE, HAND_BACK

DPKG = "apt.dpkg"
MOVES = frozenset({Action.INSTALL, Action.UPGRADE, Action.DOWNGRADE, Action.REMOVE})
"""What apt's transaction does with packages of ours."""
TRANSACTION = MOVES | {Action.TAKE_OVER}
"""The same, and with those of somebody else whose place the stack takes."""


def cure_packages(scene: Scene, cure: Cure) -> None:
    """Add the changes that bring packages to their locked versions, states and holds."""
    broken = scene.at(DPKG)
    if broken is not None and broken.kind is not FindingKind.UNKNOWN:
        cure.changes.append(_repair(DPKG, "dpkg", broken, "an interrupted dpkg refuses every change"))
    elif broken is not None:
        cure.leave([broken])
    for name, leaves in scene.members("package"):
        version = leaves.get("version")
        if version is None:
            _settle(scene, cure, name, leaves)
        elif version.kind is FindingKind.UNKNOWN:
            # The repair of dpkg is for every package, also for one whose version could not be told.
            repaired = any(change.address == DPKG for change in cure.changes)
            ended = {"state"} if repaired and _kind(leaves, "state") is FindingKind.DIFFERENT else set()
            cure.leave(finding for leaf, finding in leaves.items() if leaf not in ended)
        else:
            # The transaction installs the package whole and holds it: state and hold have no change of their own.
            cure.changes.append(_move(name, version, scene))


def _kind(leaves: dict[str, Finding], leaf: str) -> FindingKind | None:
    return leaves[leaf].kind if leaf in leaves else None


def _settle(scene: Scene, cure: Cure, name: str, leaves: dict[str, Finding]) -> None:
    """State and hold of a package that has its version."""
    here = isinstance(scene.snapshot.observe(member_address("package", name, "version")), Known)
    for leaf, finding in leaves.items():
        if finding.kind is FindingKind.UNKNOWN or not here:
            cure.leave([finding])
        elif leaf == "state":
            state = text_of(finding.observed)
            cure.changes.append(_repair(finding.address, name, finding, f"dpkg left {name} {state}"))
        else:
            cure.changes.append(_hold(name, finding, scene))


def _repair(address: str, subject: str, finding: Finding, reason: str) -> Change:
    return Change(
        address=address,
        action=Action.REPAIR,
        subject=subject,
        before=text_of(finding.observed),
        after=text_of(finding.expected),
        reason=reason,
        cost=Cost.NOTHING,
    )


def _move(name: str, finding: Finding, scene: Scene) -> Change:
    before, after = text_of(finding.observed), text_of(finding.expected)
    if isinstance(finding.expected, Absent):
        action = Action.REMOVE
    elif isinstance(finding.observed, Absent):
        action = Action.INSTALL
    else:
        action = Action.UPGRADE if _rises(before, after) else Action.DOWNGRADE
    return Change(
        address=finding.address,
        action=action,
        subject=name,
        before=before,
        after=after,
        reason=_reason(name, after, action, scene),
        cost=_cost(name, finding, scene),
    )


def _cost(name: str, finding: Finding, scene: Scene) -> Cost:
    """What moving a package costs on this host now: nothing restarts where nothing runs."""
    if finding.cost is Cost.REBOOT and not isinstance(scene.snapshot.observe("stack.driver.loaded"), Absent):
        return Cost.REBOOT
    running = any(
        scene.snapshot.observe(member_address("service", service.name, "active")) == Known("active")
        for service in scene.want.pool.services
        if name in service.packages
    )
    return Cost.RESTART if running else Cost.NOTHING


def _rises(before: str, after: str) -> bool:
    try:
        return compare(before, after) < 0
    except ValueError:
        return before < after


def _reason(name: str, after: str, action: Action, scene: Scene) -> str:
    if action is Action.REMOVE:
        return GONE
    made = scene.owned.packages.get(name)
    if made is None:
        return f"lock: {name}={after}"
    if made != after:
        return f"lock changed from {made}"
    return f"{'removed' if action is Action.INSTALL else 'moved'} by hand: lock says {after}"


def _hold(name: str, finding: Finding, scene: Scene) -> Change:
    hold = finding.expected == Known(value=True)
    if not hold:
        reason = HAND_BACK if scene.want.pool.hand_back else f"{GONE}; the package stays"
    elif name in scene.owned.packages:
        reason = "the hold was taken away by hand"
    else:
        reason = "without a hold the next upgrade moves it"
    return Change(
        address=finding.address,
        action=Action.HOLD if hold else Action.RELEASE,
        subject=name,
        before="held" if not hold else "not held",
        after="held" if hold else "not held",
        reason=reason,
        cost=Cost.NOTHING,
    )
