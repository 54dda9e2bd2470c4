"""What parity is told, and what it says, as values."""

from dataclasses import dataclass

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.finding import Finding
from gpuprov.model.snapshot import NotObserved
from gpuprov.model.status import ExitStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """One host that was compared, with what was found."""

    host: str
    findings: tuple[Finding, ...]
    facets: int
    """How many facets were compared; with 0 nothing is known about the host, whatever the findings say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One disagreement and every host that has it."""

    finding: Finding
    """Of the first of the hosts."""
    hosts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Hosts that have the same findings; without findings: hosts in sync."""

    hosts: tuple[str, ...]
    findings: tuple[Finding, ...]
    """Those with a say in the status, of the first of the hosts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parity:
    """The verdict."""

    hosts: tuple[str, ...]
    """Hosts that were compared."""
    facets: int
    """Facets compared, over all hosts."""
    findings: tuple[Finding, ...]
    """All that are not waived; those without a say in the status among them."""
    waived: tuple[Finding, ...]
    not_compared: tuple[NotObserved, ...]
    groups: tuple[Group, ...]
    rows: tuple[Row, ...]
    """The findings with a say in the status, each once."""
    diagnostics: tuple[Diagnostic, ...]
    status: ExitStatus
