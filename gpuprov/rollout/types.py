"""What a rollout works on and works with, as values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gpuprov.converge.types import HostOutcome
from gpuprov.model.change import HostPlan
from gpuprov.model.host import Host
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.rollout.reboot import Connect
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
    batch: str = "1"
    """The pool's batch, from the spec."""
    proven: bool = True
    """Whether the verify commands already succeeded for this want: then a host that is as wanted is left alone."""


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
    owner: Owner = field(default_factory=lambda: owner_now(["gpuprov"]))
    """Who changes the hosts: their locks name it."""


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
