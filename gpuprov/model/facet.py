"""Facet: a fact that can also be wanted, with how it is compared and what changing it costs."""

from dataclasses import dataclass
from enum import StrEnum


class ParityClass(StrEnum):
    """How two places must agree about a facet."""

    MUST_EQUAL = "must-equal"
    """Another value is a finding."""
    MUST_BE_COMPATIBLE = "must-be-compatible"
    """Another value is a finding unless a named rule calls the two compatible."""
    TARGET_SPECIFIC = "target-specific"
    """Differs by nature; listed, without effect on the status."""
    INFORMATIONAL = "informational"
    """Worth showing; without effect on the status."""


class Cost(StrEnum):
    """What changing a facet costs the people who use the host, in rising order."""

    NOTHING = "nothing"
    RESTART = "restart"
    """A service restarts."""
    REBOOT = "reboot"
    REPLACEMENT = "replacement"
    """The host itself would be replaced."""
    OBSERVED = "observed only"
    """Nothing in gpuprov changes it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Facet:
    """One row of the table."""

    pattern: str
    """Address, with `*` for a member."""
    want: str
    """Where the want comes from: a path of the spec, `lock`, `pool`, or `` (observed only)."""
    collector: str
    """Name of the collector that observes it."""
    comparator: str
    """Name of the comparator in compare/: equal, version, upstream, contains, set."""
    parity: ParityClass
    cost: Cost
    reason: str
    """Why it matters, in one sentence; shown with a finding."""
    rule: str = ""
    """For `must-be-compatible`: the rule of compare/compatible.py that calls two values compatible."""


def facet_row(
    pattern: str,
    want: str,
    collector: str,
    comparator: str,
    parity: ParityClass,
    cost: Cost,
    reason: str,
    *,
    rule: str = "",
) -> Facet:
    """One row of the table, by position: the table is read in columns."""
    return Facet(
        pattern=pattern,
        want=want,
        collector=collector,
        comparator=comparator,
        parity=parity,
        cost=cost,
        reason=reason,
        rule=rule,
    )
