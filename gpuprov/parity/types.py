"""What parity is told, and what it says, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpuprov.model.diagnostic import Diagnostic, Span
from gpuprov.model.fact import Observation
from gpuprov.model.finding import Finding
from gpuprov.model.snapshot import NotObserved
from gpuprov.model.status import ExitStatus
from gpuprov.model.waiver import Waiver


@dataclass(frozen=True, kw_only=True, slots=True)
class DriverFacts:
    """The four facts that a driver is: each can be right while another is not."""

    package: Observation
    """Upstream version of the driver's packages; a list where they have several."""
    on_disk: Observation
    """The module that the next boot loads."""
    loaded: Observation
    """The module that jobs use now."""
    nvml: Observation
    """What CUDA programs see."""
    gpus: bool = True
    """False for a host that is known to have no GPU: nothing loads the driver there."""


class DriverState(StrEnum):
    """What the four facts say together."""

    EQUAL = "equal"
    """All four name one version; without a GPU, the packages and the module on disk do."""
    REBOOT_PENDING = "reboot pending"
    """The module on disk is another than the loaded one: a reboot, or a reload of the module, ends it."""
    MIXED = "mixed"
    """The facts name several versions, and a reboot alone does not end that."""
    ABSENT = "no driver"
    """There is none."""
    UNKNOWN = "not observed"
    """A fact could not be observed, and the others do not contradict each other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DriverRow:
    """The four facts, what they say, and every host that has them so."""

    facts: DriverFacts
    state: DriverState
    hosts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """One host that was compared, with what was found."""

    host: str
    findings: tuple[Finding, ...]
    facets: int
    """How many facets were compared; with 0 nothing is known about the host, whatever the findings say."""
    driver: DriverFacts | None = None
    """None where no host was looked at (a lock, a spec)."""
    taken: str = ""
    """When the host was looked at, as RFC 3339 in UTC; empty where no host was."""


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


class FailOn(StrEnum):
    """What gets a say in the status besides what always has one; only a waiver takes a say away."""

    WAIVER = "waiver"
    """A waiver that has expired or covers nothing."""
    TARGET_SPECIFIC = "target-specific"
    """Findings of the class target-specific."""
    INFORMATIONAL = "informational"
    """Findings of the class informational."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """By what a verdict is given."""

    today: str
    """ISO date, for the waivers' last days."""
    waivers: tuple[Waiver, ...] = ()
    """The spec's."""
    spans: Mapping[str, Span] = field(default_factory=dict)
    """Where the spec's addresses stand."""
    fail_on: frozenset[FailOn] = frozenset()
    whole: bool = True
    """Whether everything the spec describes was to be compared; else a waiver may cover what was left out."""
    between: tuple[str, str] = ("", "")
    """What is compared with what, in words."""


class WaiverTrouble(StrEnum):
    """What is wrong with a waiver."""

    EXPIRED = "expired"
    """Its last day is over; what it covered counts again."""
    UNUSED = "unused"
    """It covers nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WaiverFinding:
    """A waiver of the spec that has expired or covers nothing: a finding about the spec, not about a host."""

    id: str
    """Stable: from the waiver's facet and the trouble."""
    address: str
    """Where it stands in the spec: `parity.waivers[0]`."""
    waiver: Waiver
    trouble: WaiverTrouble
    covered: int
    """How many findings it would cover."""
    counts: bool
    """Whether it has a say in the status (`--fail-on waiver`)."""
    span: Span | None = None
    """Its place in the spec's file, where that is known."""

    @property
    def text(self) -> str:
        """One sentence about it."""
        if self.trouble is WaiverTrouble.UNUSED:
            return f"the waiver for {self.waiver.facet} covers nothing"
        counts = f"{self.covered} finding(s) count again" if self.covered else "it covers nothing any more"
        return f"the waiver for {self.waiver.facet} expired on {self.waiver.until}: {counts}"


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
    waivers: tuple[WaiverFinding, ...] = ()
    """Expired and unused waivers, in the spec's order."""
    drivers: tuple[DriverRow, ...] = ()
    """The driver's four facts, hosts with the same ones together; the largest row first."""
    between: tuple[str, str] = ("", "")
    """What was compared with what, in words: (`lock`, `target:cloud`)."""
    taken: str = ""
    """When the first of the hosts was looked at; empty where none was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExplainedFinding:
    """A finding of a report, with what can be said about it."""

    id: str
    finding: Finding | None
    """None for a waiver that has expired or covers nothing."""
    waiver: str
    """One sentence about such a waiver; else empty."""
    hosts: tuple[str, ...]
    """All hosts that have the same disagreement."""
    commands: Mapping[str, str]
    """Collector -> the shell text by which it looks."""
    report: str
    """The file that was read."""
