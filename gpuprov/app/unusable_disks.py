"""Hosts with a disk that the spec names and that cannot be used so: nothing at all is changed there."""

from collections.abc import Iterable, Mapping

from gpuprov.model.address import member_address
from gpuprov.model.change import HostPlan
from gpuprov.model.fact import Known
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.want.mounts import FAMILY, MountWant
from gpuprov.want.types import HostWant


def unusable_disks(
    plans: Iterable[HostPlan], wants: Mapping[str, HostWant], snapshots: Mapping[str, Snapshot]
) -> dict[str, NotObserved]:
    """The hosts to leave out, with the disk that is missing or holds something else.

    Args:
        plans: of hosts; one without a change is left as it is anyway.
        wants: each host's.
        snapshots: what was seen of each.
    """
    found = {}
    for plan in plans:
        left = {finding.address for finding in plan.not_curable}
        for mount in wants[plan.host].pool.mounts:
            address = member_address(FAMILY, mount.device, "content")
            if plan.changes and address in left and plan.host not in found:
                found[plan.host] = _refused(plan.host, mount, snapshots[plan.host])
    return found


def _refused(host: str, mount: MountWant, snapshot: Snapshot) -> NotObserved:
    seen = snapshot.observe(member_address(FAMILY, mount.device, "content"))
    match seen:
        case Known(value):
            reason = f"{mount.device} holds {value}, and storage.{mount.name} wants {mount.filesystem}"
            hint = f"copy what it holds and run `wipefs -a {mount.device}` on the host, or name another disk"
        case _:
            reason = f"there is no {mount.device}, which storage.{mount.name} names"
            hint = "see `ls -l /dev/disk/by-id` on the host, or limit the storage to `pools` that have the disk"
    return NotObserved(
        host=host,
        code="GP-CONV-007",
        reason=reason,
        detail="Nothing was changed on the host: gpuprov formats only a disk on which nothing is found.",
        hint=hint,
    )
