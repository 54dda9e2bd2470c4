"""The part of a plan that is about Python frameworks: one change for the whole environment, with what moves in it."""

import difflib

from gpuprov.model.address import split_address
from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Absent, Known
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.plan.cure import Cure, Scene
from gpuprov.want.frameworks import ENVIRONMENT, FAMILY, FOLDER, FrameworksWant, listing


def cure_frameworks(scene: Scene, cure: Cure) -> None:
    """Add the change that makes another environment and takes it into use, or the one that takes it away."""
    found = [finding for _, leaves in scene.members(FAMILY) for finding in leaves.values()]
    environment = scene.at(ENVIRONMENT)
    found += [environment] if environment is not None else []
    if not found:
        return
    if any(finding.kind is FindingKind.UNKNOWN for finding in found):
        cure.leave(found)
        return
    want = scene.want.pool.frameworks
    cure.changes.append(_gone(found[0], scene) if want is None else _made(found, want, scene))


def _gone(finding: Finding, scene: Scene) -> Change:
    return Change(
        address=finding.address,
        action=Action.DELETE,
        subject=FOLDER,
        before="the environments of gpuprov",
        after="",
        reason=scene.why_gone,
        cost=Cost.NOTHING,
    )


def _made(found: list[Finding], want: FrameworksWant, scene: Scene) -> Change:
    now, wanted = _versions(scene), {package.name: package.version for package in want.packages}
    lines = difflib.unified_diff(
        listing(now).splitlines(keepends=True),
        listing(wanted).splitlines(keepends=True),
        f"{FOLDER}/current (now)",
        f"{FOLDER}/current (wanted)",
    )
    return Change(
        address=next((f.address for f in found if f.address == ENVIRONMENT), found[0].address),
        action=Action.WRITE,
        subject=FOLDER,
        before=", ".join(f"{name} {now[name]}" for name in want.requested if name in now),
        after=", ".join(f"{name} {wanted[name]}" for name in want.requested),
        reason=_reason(found, scene),
        cost=Cost.NOTHING,
        diff="".join(lines),
    )


def _versions(scene: Scene) -> dict[str, str]:
    """What is in the environment in use."""
    versions = {}
    for address, fact in scene.snapshot.facts.items():
        parts = split_address(address)
        if parts is not None and parts[0] == FAMILY and isinstance(fact.observation, Known):
            versions[parts[1]] = str(fact.observation.value)
    return versions


def _reason(found: list[Finding], scene: Scene) -> str:
    environment = next((finding for finding in found if finding.address == ENVIRONMENT), None)
    if environment is None:
        return "changed by hand"
    if isinstance(environment.observed, Absent):
        return "deleted by hand" if scene.owned.frameworks else "lock: frameworks"
    return "the spec or the lock changed"
