"""What was observed: known, absent, or unknown with its reason; never a default."""

from dataclasses import dataclass

Value = str | int | bool | list["Value"] | dict[str, "Value"]


@dataclass(frozen=True, slots=True)
class Known:
    """The thing is there, with this value."""

    value: Value


@dataclass(frozen=True, slots=True)
class Absent:
    """The probe looked, and the thing is not there."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """The probe could not look, or did not understand what it saw."""

    reason: str


Observation = Known | Absent | Unknown


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Where an observation comes from."""

    collector: str
    status: int
    """Exit status of the collector's command."""
    digest: str
    """sha256 of the output, `sha256:<hex>`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One observation at an address, with its evidence."""

    address: str
    observation: Observation
    evidence: Evidence | None = None
