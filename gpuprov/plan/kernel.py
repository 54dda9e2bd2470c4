"""The kernel's part of a plan: whether the next boot takes the locked kernel, and the reboot into it."""

from dataclasses import replace

from gpuprov.lock.kernel import kernel_names
from gpuprov.model.address import member_address
from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Known
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.plan.cure import Cure, Scene, text_of
from gpuprov.plan.packages import MOVES
from gpuprov.want.kernel import NEXT, RELEASE


def cure_kernel(scene: Scene, cure: Cure) -> None:
    """Add what boots the locked kernel; call it after the packages.

    A reboot is planned only where the next boot takes the kernel, or will once GRUB's menu is made anew: one that
    cannot help would be repeated by every `up`.
    """
    upcoming, running = scene.at(NEXT), scene.at(RELEASE)
    boots = upcoming is None
    if upcoming is not None:
        boots = isinstance(upcoming.observed, Known) and _installed(scene, cure)
        if boots:
            cure.changes.append(_boot(upcoming))
        else:
            cure.leave([upcoming])
    if running is None:
        return
    if boots and running.kind is not FindingKind.UNKNOWN:
        cure.changes.append(_reboot(running, scene))
    elif running.kind is FindingKind.UNKNOWN:
        cure.leave([running])
    else:
        cure.leave([replace(running, reason=_why_not(upcoming))])


def _installed(scene: Scene, cure: Cure) -> bool:
    """Whether the kernel's image is on the host, or the plan brings it."""
    image = kernel_names(scene.want.pool.kernel)[0]
    coming = any(change.subject == image and change.action in MOVES for change in cure.changes)
    return coming or isinstance(scene.snapshot.observe(member_address("package", image, "version")), Known)


def _boot(finding: Finding) -> Change:
    after = text_of(finding.expected)
    return Change(
        address=NEXT,
        action=Action.BOOT,
        subject=after,
        before=text_of(finding.observed),
        after=after,
        reason="the next boot takes another kernel than the locked one",
        cost=Cost.NOTHING,
    )


def _reboot(finding: Finding, scene: Scene) -> Change:
    before, after = text_of(finding.observed), text_of(finding.expected)
    return Change(
        address=RELEASE,
        action=Action.REBOOT,
        subject=scene.want.host,
        before=before,
        after=after,
        reason=f"the kernel {before} runs, {after} is locked",
        cost=Cost.REBOOT,
    )


def _why_not(upcoming: Finding | None) -> str:
    if upcoming is None or isinstance(upcoming.observed, Known):
        return "the locked kernel is not installed"
    return f"a reboot may not bring it: {text_of(upcoming.observed) or 'no kernel is installed in /boot'}"
