"""What a rollout works on and works with, as values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gpuprov.converge.types import HostOutcome
from gpuprov.model.change import HostPlan
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.facet import Cost
from gpuprov.model.host import Host
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.rollout.reboot import Connect
from gpuprov.rollout.window import now
from gpuprov.spec.rollout import RolloutSpec
from gpuprov.store.lock import Owner, owner_now
from gpuprov.want.types import HostWant

Seen = Mapping[str, Snapshot | NotObserved]
"""Host name -> what the probe saw."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """One host of a rollout: what it should be, and what that takes."""

    host: Host
    want: HostWant
    plan: HostPlan
    steps: RolloutSpec = field(default_factory=RolloutSpec)
    """The pool's rollout, from the spec."""
    proven: bool = True
    """Whether the last proof succeeded for this want: then a host that is as wanted is left alone."""
    before: Snapshot | None = None
    """What was seen of the host when the plan was made."""
    seen: Snapshot | None = None
    """What was seen of it right before it is touched; None until then."""
    containers: bool = False
    """Whether a container on the host must see the GPUs."""
    scheduler: Host | None = None
    """The host on which Slurm's commands run; None: the host itself."""


Refuses = Callable[[Target, Snapshot], tuple[Diagnostic, ...]]
"""Says why a host must not be changed, or rebooted, as it is seen now; nothing where it may."""


def never(target: Target, seen: Snapshot) -> tuple[Diagnostic, ...]:  # noqa: ARG001 - refuses nobody
    """Refuse no host."""
    return ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Tools:
    """The rooms a rollout uses, as functions, so that each step can be tried without a host."""

    connect: Connect
    observe: Callable[[Sequence[Host]], Seen]
    """Probe hosts anew."""
    converge: Callable[[Sequence[Target]], Mapping[str, HostOutcome]]
    """Run the play on hosts: name -> outcome."""
    plan: Callable[[Target, Snapshot], HostPlan]
    """The plan of a host from a fresh snapshot."""
    record: Callable[[str, str, Mapping[str, object]], None]
    """Write a journal entry: step, `begin` or `end`, data."""
    in_use: Refuses = never
    """Whether somebody began to use the GPUs of a host that was shown as idle, or still uses them after its drain."""
    stranded: Refuses = never
    """Whether a reboot would leave a host without its driver."""
    owner: Owner = field(default_factory=lambda: owner_now(["gpuprov"]))
    """Who changes the hosts: their locks name it."""
    clock: Callable[[], datetime] = now
    """The time, for the windows in which batches may begin."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """Time limits, in seconds, and how many hosts at once."""

    reboot: float = 1200.0
    """A GPU server with eight GPUs may take over ten minutes through its firmware."""
    settle: float = 120.0
    """How long services and exporters may take to come up after a change."""
    verify: float = 300.0
    """For each verify command of the spec."""
    width: int = 32
    """Hosts that are rebooted, proven or verified at the same time, within a batch."""


def disturbs(plan: HostPlan) -> bool:
    """Whether a plan restarts a service or its host: what costs nothing is done under running work."""
    return any(change.cost is not Cost.NOTHING for change in plan.changes)
