"""Findings: where an expectation and an observation, or two observations, do not agree."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpuprov.model.facet import Cost, ParityClass
from gpuprov.model.fact import Evidence, Observation
from gpuprov.model.waiver import Waiver


class FindingKind(StrEnum):
    """In what way two sides disagree."""

    DIFFERENT = "different"
    """Both are known, and not equal by the facet's comparator."""
    MISSING = "missing"
    """Expected, but absent on the second side."""
    UNEXPECTED = "unexpected"
    """Present on the second side only."""
    UNKNOWN = "unknown"
    """One side could not be observed."""
    REBOOT_PENDING = "reboot pending"
    """What is on disk is right; what is loaded is not."""


_COUNTED: Final = frozenset({ParityClass.MUST_EQUAL, ParityClass.MUST_BE_COMPATIBLE})


@dataclass(frozen=True, kw_only=True, slots=True)
class SideEvidence:
    """What one side of a finding rests on."""

    side: str
    """The host that was looked at."""
    taken: str
    """When, as RFC 3339 in UTC, by the controller's clock."""
    evidence: Evidence
    """The collector, its exit status and the digest of what it printed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One disagreement at one address on one host (or pair of hosts)."""

    address: str
    host: str
    """The host the finding is about (the second side's, in a comparison of two)."""
    kind: FindingKind
    expected: Observation
    observed: Observation
    sides: tuple[str, str]
    """What the two sides are called: ("lock", "node-1"), ("node-1", "node-2")."""
    parity: ParityClass
    cost: Cost
    reason: str
    """Why the facet matters, and for a reboot or an unknown why it is so."""
    curable: bool = True
    """False when no change of gpuprov can end it."""
    waiver: Waiver | None = None
    origin: str = ""
    """Where a wanted side comes from, such as `lock: libcuda1=580.95.05-1`; empty between two hosts."""
    rule: str = ""
    """The rule that said whether the two are compatible; empty where nothing but equality will do."""
    evidence: tuple[SideEvidence, ...] = ()
    """What each observed side rests on, the first side first; a side without a look has none."""
    basis: str = ""
    """What the first side stands for where it is one of several hosts: ids name it in place of that host."""
    asked: bool = False
    """Whether the user gave it a say in the exit status that its class does not have (`--fail-on`)."""

    @property
    def counts(self) -> bool:
        """Whether the finding has a say in the exit status."""
        return self.waiver is None and (self.asked or self.parity in _COUNTED)
