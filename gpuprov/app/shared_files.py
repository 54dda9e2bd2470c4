"""Hosts with a file that must take keys of ours and cannot: nothing at all is changed there."""

from collections.abc import Iterable, Mapping

from gpuprov.model.address import member_address
from gpuprov.model.change import HostPlan
from gpuprov.model.snapshot import NotObserved
from gpuprov.want.types import HostWant, Merge


def broken_shared_files(plans: Iterable[HostPlan], wants: Mapping[str, HostWant]) -> dict[str, NotObserved]:
    """The hosts to leave out, with the file that is in no form that keys can be merged into.

    Left in, such a host would get its packages, and the play would end at the file.

    Args:
        plans: of hosts; one without a change is left as it is anyway.
        wants: each host's.
    """
    found = {}
    for plan in plans:
        left = {finding.address for finding in plan.not_curable}
        for file in wants[plan.host].pool.files:
            broken = file.merge is Merge.JSON and member_address("file", file.path, "text") in left
            if broken and plan.changes and plan.host not in found:
                found[plan.host] = _refused(plan.host, file.path)
    return found


def _refused(host: str, path: str) -> NotObserved:
    return NotObserved(
        host=host,
        code="GP-CONV-005",
        reason=f"{path} holds no JSON object, so that nothing can be merged into it",
        detail="Nothing was changed on the host: replacing the file would throw away what somebody wrote there.",
        hint=f"repair the file on the host (`python3 -m json.tool {path}` shows where it breaks), or move it aside",
    )
