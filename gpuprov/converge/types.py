"""What converge takes and gives, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.want.types import HostWant


@dataclass(frozen=True, kw_only=True, slots=True)
class RunDocuments:
    """The documents of a run, in full, as they are kept on every host."""

    spec: str
    lock: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Keeping:
    """What a host keeps of a run, so that it can be brought back to it; or the run that it is brought back to."""

    run: str
    """Name of the run."""
    want: HostWant
    """The whole want; the play may work from less of it."""
    found: HostWant | None = None
    """The host as it is now, in case no run is kept there; None where it has nothing to go back to."""
    required: bool = True
    """Whether nothing is changed where a rollback would not be possible."""
    restore: str = ""
    """Name of the run that the host is brought back to; empty for a step forward."""
    documents: RunDocuments | None = None
    """The host's own, where it is brought back; None takes the run's."""


class HostStatus(StrEnum):
    """How the play ended on one host."""

    OK = "ok"
    FAILED = "failed"
    UNREACHABLE = "unreachable"
    CANCELLED = "cancelled"
    """The run was interrupted before the play had ended on the host."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Foresight:
    """What a look at the package transaction said, and no finished one says."""

    download: int = 0
    """Bytes that apt would fetch."""
    growth: int = 0
    """Bytes by which the disk's use would grow."""
    rollback: Mapping[str, Any] = field(default_factory=dict)
    """What of the old packages is kept, can be fetched, or is lost."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostOutcome:
    """What the play did on one host."""

    status: HostStatus
    changed: int = 0
    """Tasks that changed something."""
    tasks: int = 0
    """Tasks that ran on the host."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What went wrong; empty exactly when the status is `ok`."""
    packages: tuple[str, ...] = ()
    """Package moves as `name from -> to`."""
    others: tuple[str, ...] = ()
    """Moves of packages that are not in the plan (they rose, or came as a dependency)."""
    notes: tuple[str, ...] = ()
    """Sentences worth telling: a check that could not be made, a service that waits for the reboot."""
    foresight: Foresight | None = None
    """Of a look at the package transaction alone; None where apt had nothing to say."""
    removed: tuple[str, ...] = ()
    """Packages that apt would have removed beside the plan: why the transaction was refused."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConvergeResult:
    """What a play did."""

    hosts: Mapping[str, HostOutcome]
    log: Path
    """Everything that Ansible printed."""
