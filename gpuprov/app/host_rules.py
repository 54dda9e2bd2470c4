"""The rules that look at hosts before they are changed: what is seen there against what the stack needs."""

from collections.abc import Mapping

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.planned import Planned
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.rules.answer import Verdict, told
from gpuprov.rules.host import HostFacts, check_host


def refused_hosts(snapshots: Mapping[str, Snapshot]) -> dict[str, NotObserved]:
    """The hosts that must not be changed as they are, each with the first reason."""
    found: dict[str, NotObserved] = {}
    for name, snapshot in snapshots.items():
        for answer in check_host(host_facts(snapshot)):
            if answer.verdict is Verdict.REFUSED and name not in found:
                found[name] = NotObserved(
                    host=name,
                    code=answer.rule,
                    reason=answer.summary,
                    detail=answer.consequence,
                    hint=answer.satisfies,
                )
    return found


def host_warnings(planned: Planned) -> tuple[Diagnostic, ...]:
    """What the rules warn of on the hosts that a plan would change."""
    changing = [plan.host for plan in planned.plan.hosts if plan.changes]
    found = tuple(
        told(answer)
        for host in changing
        for answer in check_host(host_facts(planned.snapshots[host]))
        if answer.verdict is Verdict.WARNING
    )
    return (*found, *(one for one in planned.told if one.address in changing))


def host_facts(snapshot: Snapshot) -> HostFacts:
    """What the rules read of a snapshot; what could not be seen refuses nothing."""
    conflicts = snapshot.known("apt.conflicts")
    links = snapshot.known("stack.container.device_links")
    return HostFacts(
        host=snapshot.host,
        conflicts={place: tuple(map(str, files)) for place, files in conflicts.items() if isinstance(files, list)}
        if isinstance(conflicts, dict)
        else {},
        secure_boot=str(snapshot.known("host.secure_boot") or ""),
        signature=str(snapshot.known("stack.driver.signature") or ""),
        signer=str(snapshot.known("stack.driver.signer") or ""),
        module=snapshot.known("stack.driver.on_disk") is not None,
        cgroup_driver=str(snapshot.known("stack.container.cgroup_driver") or ""),
        device_links=links if isinstance(links, bool) else None,
    )
