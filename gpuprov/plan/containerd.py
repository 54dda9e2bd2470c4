"""The part of a plan that is about containerd: its runtime for GPUs comes, or goes; its program restarts for it."""

from gpuprov.model.address import member_address
from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Absent, Known
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.plan.cure import Cure, Scene
from gpuprov.plan.packages import MOVES
from gpuprov.want.containerd import CONFIG_PATH, CRI, RUNTIME, RUNTIMES, UNIT


def cure_containerd(scene: Scene, cure: Cure) -> None:
    """Add the change of containerd's configuration; one that switches off what serves Kubernetes is left as it is."""
    finding, off = scene.at(RUNTIMES), scene.at(CRI)
    if off is not None and not (isinstance(off.observed, Absent) and _comes(cure)):
        cure.leave([off])  # a containerd that comes serves Kubernetes by itself
    if finding is None:
        return
    if finding.kind is FindingKind.UNKNOWN or (off is not None and off.observed == Known(value=False)):
        cure.leave([finding])
    else:
        cure.changes.append(_change(finding, scene))


def _comes(cure: Cure) -> bool:
    return any(change.action in MOVES and change.subject == UNIT for change in cure.changes)


def _change(finding: Finding, scene: Scene) -> Change:
    wanted = scene.want.pool.containerd
    runs = scene.snapshot.observe(member_address("service", UNIT, "active")) == Known("active")
    gone = scene.why_gone
    return Change(
        address=RUNTIMES,
        action=Action.WRITE if wanted else Action.TAKE_BACK,
        subject=CONFIG_PATH,
        before=_names(finding),
        after=f"with the runtime {RUNTIME}" if wanted else f"without the runtime {RUNTIME}",
        reason="pods reach GPUs through NVIDIA's runtime" if wanted else gone,
        cost=Cost.RESTART if runs else Cost.NOTHING,
    )


def _names(finding: Finding) -> str:
    seen = finding.observed.value if isinstance(finding.observed, Known) else {}
    return ", ".join(f"{name} ({kind})" for name, kind in sorted(seen.items())) if isinstance(seen, dict) else ""
