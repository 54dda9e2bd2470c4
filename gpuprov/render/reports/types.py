"""What a report of parity is made of, and which forms it can have."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpuprov.compare.finding_id import finding_id
from gpuprov.model.diagnostic import Diagnostic, Span, status_of
from gpuprov.model.finding import Finding
from gpuprov.model.snapshot import NotObserved
from gpuprov.model.status import ExitStatus
from gpuprov.parity.groups import group_findings
from gpuprov.parity.types import Parity, Row


class ReportKind(StrEnum):
    """The forms of a report."""

    TABLE = "table"
    """Text for a terminal."""
    JSON = "json"
    """All of it, for programs."""
    JUNIT = "junit"
    """XML that CI systems show as tests: a suite per host."""
    SARIF = "sarif"
    """JSON that code scanning shows at the line of spec or lock."""
    MARKDOWN = "markdown"
    """For a pull request or a job's summary."""
    HTML = "html"
    """One page for a browser, with a filter; it needs neither network nor JavaScript."""
    GITHUB = "github"
    """Workflow commands of GitHub Actions: an annotation at each line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportFormat:
    """One report that was asked for."""

    kind: ReportKind
    file: str | None
    """None: on stdout."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ParityReport:
    """What every form shows: a verdict, or why there is none."""

    parity: Parity | None
    """None: nothing could be compared, and the diagnostics say why."""
    diagnostics: tuple[Diagnostic, ...]
    places: Mapping[str, Span] = field(default_factory=dict)
    """Lines of the spec or the lock, by the id of a finding; their files are named from the repository's root."""
    version: str = ""
    """gpuprov's own."""

    @property
    def status(self) -> ExitStatus:
        """The exit status that goes with it."""
        return self.parity.status if self.parity is not None else status_of(self.diagnostics)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings with a say in the status, by address and host, in whatever order they were found."""
        return _sorted(f for f in self.parity.findings if f.counts) if self.parity is not None else ()

    @property
    def waived(self) -> tuple[Finding, ...]:
        """The waived findings, in the same order."""
        return _sorted(self.parity.waived) if self.parity is not None else ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """Each disagreement with a say in the status once, with its hosts, in the same order."""
        # Grouped anew: the verdict's own rows and hosts stand in the order in which they were found.
        return group_findings(self.findings)

    @property
    def not_compared(self) -> tuple[NotObserved, ...]:
        """The hosts that could not be compared, by name."""
        missing = self.parity.not_compared if self.parity is not None else ()
        return tuple(sorted(missing, key=lambda host: (host.host, host.code, host.reason)))

    def place(self, finding: Finding) -> Span | None:
        """The line that says what the finding's first side is, where there is one."""
        return self.places.get(finding_id(finding))


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=_key))


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.address, finding.host, finding.sides[0]
