"""What a run did: one result per host."""

from dataclasses import dataclass
from enum import StrEnum

from gpuprov.model.change import Plan
from gpuprov.model.diagnostic import Diagnostic, status_of
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.resource import ResourceResult
from gpuprov.model.status import ExitStatus, combine_statuses


class HostState(StrEnum):
    """How a host came out of a run."""

    SATISFIED = "satisfied"
    """It was as wanted already; nothing was run on it but the probe."""
    CHANGED = "changed"
    """It was changed, and the proof succeeded."""
    FAILED = "failed"
    """Something failed; the diagnostics say what."""
    NOT_STARTED = "not started"
    """The rollout stopped before this host; nothing was changed on it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostResult:
    """One host's part of a run."""

    host: str
    pool: str
    state: HostState
    diagnostics: tuple[Diagnostic, ...] = ()
    tasks: int = 0
    """Ansible tasks that ran on the host."""
    changed: int = 0
    """Ansible tasks that changed something."""
    packages: tuple[str, ...] = ()
    """Package moves as `name from -> to`."""
    others: tuple[str, ...] = ()
    """Moves of packages that gpuprov does not own: they rose, or came as a dependency."""
    notes: tuple[str, ...] = ()
    """Sentences of the run that somebody should know."""
    rebooted: bool = False
    seconds: float = 0.0
    remaining: tuple[Finding, ...] = ()
    """Findings after the run that no change can end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResult:
    """A whole run."""

    run: str
    """Path of the run's folder: journal, log, documents; empty when nothing was journalled."""
    plan: Plan
    hosts: tuple[HostResult, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    """What is about the run and not about one host."""
    resources: ResourceResult | None = None
    """What changed in the cloud account; None for the rack."""

    @property
    def status(self) -> ExitStatus:
        """The exit status of the run."""
        diagnostics = [*self.diagnostics, *(d for host in self.hosts for d in host.diagnostics)]
        left = {finding.kind for host in self.hosts for finding in host.remaining if finding.counts}
        unknown = ExitStatus.INCOMPLETE if FindingKind.UNKNOWN in left else ExitStatus.DONE
        different = ExitStatus.DIFFERENT if left - {FindingKind.UNKNOWN} else ExitStatus.DONE
        return combine_statuses([status_of(diagnostics), unknown, different])
