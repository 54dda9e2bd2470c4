"""What a spec accepts until a date. Apart from findings: every command reads a spec, few look at hosts."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiver:
    """A finding that the spec takes upon itself until a date."""

    facet: str
    """Address or pattern."""
    reason: str
    until: str
    """ISO date, inclusive."""
