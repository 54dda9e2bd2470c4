"""The part of a plan that is about storage: an empty disk gets its file system, and disks and shares are mounted."""

from collections.abc import Mapping

from gpuprov.model.address import member_address
from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Absent, Known
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.plan.cure import Cure, Scene
from gpuprov.want.mounts import FAMILY, SHARES, MountWant

EMPTY = "empty"


def cure_storage(scene: Scene, cure: Cure) -> None:
    """Add what brings the spec's disks into use; a disk that holds anything else than what is wanted is left alone."""
    mounts = {mount.device: mount for mount in scene.want.pool.mounts}
    for device, leaves in scene.members(FAMILY):
        mount, content = mounts[device], leaves.get("content")
        if any(finding.kind is FindingKind.UNKNOWN for finding in leaves.values()) or not _usable(content):
            cure.leave(leaves.values())
            continue
        if content is not None:
            cure.changes.append(_format(content, mount))
        if "mounts" in leaves:
            cure.changes.append(_mount(leaves["mounts"], mount))
    for place, leaves in scene.members(SHARES):
        _share(place, leaves, scene, cure)


def _share(place: str, leaves: Mapping[str, Finding], scene: Scene, cure: Cure) -> None:
    """A place where nothing is mounted gets the share; what somebody else mounted there stays, and is told."""
    mount = next(mount for mount in scene.want.pool.mounts if mount.shared and mount.place == place)
    source = leaves.get("source")
    if source is None or source.kind is FindingKind.UNKNOWN:
        cure.leave(leaves.values())
    elif isinstance(source.observed, Absent) or mount.path in scene.owned.files:
        before = str(source.observed.value) if isinstance(source.observed, Known) else ""
        cure.changes.append(
            Change(
                address=source.address,
                action=Action.MOUNT,
                subject=mount.device,
                before=before,
                after=place,
                reason=source.origin,
                cost=Cost.RESTART if before else Cost.NOTHING,
            )
        )
    else:
        cure.leave(leaves.values())


def _usable(content: Finding | None) -> bool:
    """Whether the disk holds the wanted file system, or nothing at all."""
    return content is None or content.observed == Known(EMPTY)


def _format(finding: Finding, mount: MountWant) -> Change:
    return Change(
        address=finding.address,
        action=Action.FORMAT,
        subject=mount.device,
        before=EMPTY,
        after=mount.filesystem,
        reason=finding.origin,
        cost=Cost.NOTHING,
    )


def _mount(finding: Finding, mount: MountWant) -> Change:
    seen = finding.observed.value if isinstance(finding.observed, Known) else []
    return Change(
        address=member_address(FAMILY, mount.device, "mounts"),
        action=Action.MOUNT,
        subject=mount.device,
        before=", ".join(str(place) for place in seen) if isinstance(seen, list) else "",
        after=mount.place,
        reason=finding.origin,
        cost=Cost.NOTHING,
    )
