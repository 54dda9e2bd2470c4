"""Changes of services: enable, start, restart; and what is seen only of a running one: exporters, runtimes."""

from typing import Final

from gpuprov.model.address import member_address
from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Known, Unknown
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.plan.cure import Cure, Scene, text_of
from gpuprov.plan.files import file_right, wanted_files
from gpuprov.plan.packages import MOVES
from gpuprov.want.types import FileWant, ServiceWant

RUNTIMES: Final = "stack.container.runtimes"
_ACTIONS: Final = {"active": Action.START, "enabled": Action.ENABLE}


def cure_services(scene: Scene, cure: Cure) -> None:
    """Add the changes of services; call it last: what restarts follows from all other changes."""
    for name, leaves in scene.members("service"):
        for leaf, finding in leaves.items():
            if finding.kind is FindingKind.UNKNOWN:
                cure.leave([finding])
            else:
                cure.changes.append(_bring(name, leaf, finding, scene))
    if not _reboots(cure):  # a reboot restarts everything
        cure.changes.extend(_restarts(scene, cure))
    _runtimes(scene, cure)
    _exporters(scene, cure)


def _service(scene: Scene, name: str) -> ServiceWant | None:
    return next((service for service in scene.want.pool.services if service.name == name), None)


def _bring(name: str, leaf: str, finding: Finding, scene: Scene) -> Change:
    service = _service(scene, name)
    packages = ", ".join(service.packages) if service is not None else ""
    return Change(
        address=finding.address,
        action=_ACTIONS[leaf],
        subject=name,
        before=text_of(finding.observed),
        after=text_of(finding.expected),
        reason=f"lock: {packages}" if packages else finding.reason,
        cost=Cost.NOTHING,
    )


def _restarts(scene: Scene, cure: Cure) -> list[Change]:
    """Units that run now and whose packages or files change."""
    moved = {change.subject: change for change in cure.changes if change.action in MOVES}
    written = {change.subject for change in cure.changes if change.action is Action.WRITE}
    files = [file for file in wanted_files(scene.want.pool).values() if file.path in written]
    changes = []
    for service in scene.want.pool.services:
        address = member_address("service", service.name, "active")
        if scene.snapshot.observe(address) != Known("active") or scene.at(address) is not None:
            continue
        causes = [name for name in service.packages if name in moved]
        causes += [file.path for file in files if service.name in file.restarts]
        if causes:
            changes.append(_restart(address, service.name, f"{', '.join(causes)} changes"))
    return changes


def _restart(address: str, name: str, reason: str) -> Change:
    return Change(
        address=address,
        action=Action.RESTART,
        subject=name,
        before="active",
        after="active",
        reason=reason,
        cost=Cost.RESTART,
    )


def _runtimes(scene: Scene, cure: Cure) -> None:
    """An engine without a wanted runtime: it takes it from its file when it starts, and from nowhere else."""
    finding = scene.at(RUNTIMES)
    if finding is None:
        return
    file, service = _engine(scene)
    if finding.kind is FindingKind.UNKNOWN or file is None or service is None:
        cure.leave([finding])
    elif any(change.action is Action.WRITE and change.subject == file.path for change in cure.changes):
        return  # and where the engine runs, it restarts for its file
    elif not file_right(file, scene):
        cure.leave([finding])
    elif not _touched(service, cure):
        if scene.snapshot.observe(member_address("service", service.name, "active")) == Known("active"):
            reason = f"{service.name} runs without a runtime that {file.path} names"
            cure.changes.append(_restart(finding.address, service.name, reason))
        else:
            cure.leave([finding])


def _engine(scene: Scene) -> tuple[FileWant | None, ServiceWant | None]:
    """The file that names the engine's runtimes, and the engine's unit."""
    file = next((file for file in scene.want.pool.files if file.restarts), None)
    service = next((s for s in scene.want.pool.services if file is not None and s.name in file.restarts), None)
    return file, service


def _exporters(scene: Scene, cure: Cure) -> None:
    """An exporter that does not answer: its unit is started or restarted by another change, or restarts for it."""
    for name, leaves in scene.members("exporter"):
        finding = leaves["answers"]
        service = next((s for s in scene.want.pool.services if s.exporter == name), None)
        if service is None or (_unseen(service, scene) and not _started(service, cure)):
            # A boot starts what is enabled; a unit that nobody could look at is not acted upon.
            cure.leave([finding])
        elif not _touched(service, cure):
            if finding.kind is FindingKind.UNKNOWN:
                cure.leave([finding])
            else:
                cure.changes.append(_restart(finding.address, service.name, f"the {name} exporter does not answer"))


def starts_anew(name: str, cure: Cure) -> bool:
    """Whether a change that is planned already starts the unit anew: a boot, or its own."""
    started = {Action.START, Action.RESTART}
    return _reboots(cure) or any(c.action in started and c.subject == name for c in cure.changes)


def _touched(service: ServiceWant, cure: Cure) -> bool:
    """Whether another change starts the unit anew."""
    return starts_anew(service.name, cure)


def _reboots(cure: Cure) -> bool:
    return any(change.action is Action.REBOOT for change in cure.changes)


def _started(service: ServiceWant, cure: Cure) -> bool:
    return any(c.action in {Action.START, Action.RESTART} and c.subject == service.name for c in cure.changes)


def _unseen(service: ServiceWant, scene: Scene) -> bool:
    """Whether nobody knows if a boot will start the unit."""
    return isinstance(scene.snapshot.observe(member_address("service", service.name, "enabled")), Unknown)
