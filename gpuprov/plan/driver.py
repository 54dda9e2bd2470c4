"""The driver's part of a plan: whether the module is loaded, or the host reboots, or nothing helps."""

from typing import Final

from gpuprov.compare.comparators import compare_upstream
from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.version import upstream
from gpuprov.plan.cure import Cure, Scene, text_of
from gpuprov.plan.packages import DPKG, MOVES
from gpuprov.want.kernel import RELEASE

ON_DISK: Final = "stack.driver.on_disk"
LOADED: Final = "stack.driver.loaded"
MODULES: Final = "stack.driver.modules"
NVML: Final = "stack.driver.nvml"
MODELS: Final = "gpu.models"
NOUVEAU: Final = "host.nouveau"


def cure_driver(scene: Scene, cure: Cure) -> None:
    """Add the load or the reboot that brings the locked driver into use; call it after the packages.

    A reboot is planned only where the module on disk is the right one, or becomes so by the packages: a reboot that
    cannot help would be repeated by every `up`.
    """
    if any(change.address == RELEASE for change in cure.changes):
        # Another kernel has modules of its own: what is wrong with this one's is judged anew after the boot.
        models = scene.at(MODELS)
        cure.leave([models] if models is not None and models.kind is FindingKind.DIFFERENT else [])
        return
    disk_changes = _changes_disk(scene, cure)
    disk = scene.at(ON_DISK)
    if disk is not None and (not disk_changes or disk.kind is FindingKind.UNKNOWN):
        cure.leave([disk])
    # NVML follows a driver that comes into use, and libraries that come to fit the one in use; one that is not seen may
    # be any.
    follows = _switch(scene, cure, disk_changes=disk_changes) or (disk_changes and _seen_right(LOADED, scene))
    for address in (NVML, MODELS):
        finding = scene.at(address)
        seen_wrong = address == MODELS and finding is not None and finding.kind is FindingKind.DIFFERENT
        if finding is not None and (seen_wrong or not follows):
            cure.leave([finding])


def _seen_right(address: str, scene: Scene) -> bool:
    seen, wanted = scene.snapshot.observe(address), scene.want.pool.on_disk
    return isinstance(seen, Known) and compare_upstream(wanted, seen.value) is True


def _changes_disk(scene: Scene, cure: Cure) -> bool:
    """Whether a change of packages puts the locked module on the disk."""
    wanted = scene.want.pool.on_disk
    if not wanted:
        return False
    driver = {package.name for package in scene.want.pool.packages if upstream(package.version) == wanted}
    return any(
        (change.action in MOVES and change.subject in driver)
        or (change.action is Action.REPAIR and (change.address == DPKG or change.subject in driver))
        for change in cure.changes
    )


def _switch(scene: Scene, cure: Cure, *, disk_changes: bool) -> bool:
    """Add the load or reboot, where one is needed and helps; say whether one was added."""
    found = [finding for address in (LOADED, MODULES) if (finding := scene.at(address)) is not None]
    wrong = [finding for finding in found if finding.kind is not FindingKind.UNKNOWN]
    cure.leave(finding for finding in found if finding.kind is FindingKind.UNKNOWN)
    if not wrong:
        return False
    now = scene.snapshot.observe(LOADED)
    disk_right = disk_changes or _seen_right(ON_DISK, scene)
    if isinstance(now, Absent) and wrong[0].address == MODULES:
        # The load itself is waived, and the flavour is that of the module on disk: only packages change it.
        if not disk_changes:
            cure.leave(wrong)
        return False
    flavour_stays = isinstance(now, Absent) and len(wrong) > 1 and not disk_changes
    if not disk_right or flavour_stays or isinstance(now, Unknown):
        cure.leave(wrong)
        return False
    held = scene.snapshot.observe(NOUVEAU) == Known(value=True)
    loads = isinstance(now, Absent) and not held
    cure.changes.append(_load(wrong[0]) if loads else _reboot(wrong[0], scene))
    return True


def _load(finding: Finding) -> Change:
    after = text_of(finding.expected)
    return Change(
        address=finding.address,
        action=Action.LOAD,
        subject="nvidia",
        before="",
        after=after,
        reason="no driver is loaded",
        cost=Cost.NOTHING,
    )


def _reboot(finding: Finding, scene: Scene) -> Change:
    return Change(
        address=finding.address,
        action=Action.REBOOT,
        subject=scene.want.host,
        before=text_of(finding.observed),
        after=text_of(finding.expected),
        reason=_why_reboot(finding),
        cost=Cost.REBOOT,
    )


def _why_reboot(finding: Finding) -> str:
    before, after = text_of(finding.observed), text_of(finding.expected)
    if isinstance(finding.observed, Absent):
        return "nouveau holds the GPU; our modprobe settings take effect at the next boot"
    if finding.address == MODULES:
        return f"{before} modules are loaded, the spec asks for {after}"
    return f"the driver {before} is loaded, {after} is locked"
