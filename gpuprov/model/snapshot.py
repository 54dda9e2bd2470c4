"""A host as it was seen at one moment: its facts, and what a missing fact means."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from gpuprov.model.address import member_address, split_address
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.facets import FACETS
from gpuprov.model.fact import Absent, Fact, Known, Observation, Unknown, Value


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """All facts of one host.

    `families` says for each family of members (package, file, service, mount) what a member without a fact is:
    Absent when its collector looked at all of them, Unknown(reason) when it could not.
    """

    host: str
    taken: str
    """When, as RFC 3339 in UTC, by the controller's clock."""
    facts: Mapping[str, Fact]
    families: Mapping[str, Observation] = field(default_factory=dict)
    seconds: float = 0.0
    """How long the host's own script took, in seconds; 0.0 for a replay."""

    def observe(self, address: str) -> Observation:
        """What was seen at an address; a fact that nobody looked for is Unknown, never Absent."""
        fact = self.facts.get(address)
        if fact is not None:
            return fact.observation
        parts = split_address(address)
        if parts is not None:
            family, member, leaf = parts
            # A member that is there but lacks this leaf was not understood; it is not absent.
            if self._is_there(family, member):
                return Unknown(f"no fact for {leaf or 'this'} of {member}")
            return self.families.get(family, Unknown(f"no collector looked for {family}"))
        return Unknown("no collector looked for this")

    def known(self, address: str) -> Value | None:
        """The value at an address where it is known; None else: not for whoever must tell absent from unknown."""
        seen = self.observe(address)
        return seen.value if isinstance(seen, Known) else None

    def _is_there(self, family: str, member: str) -> bool:
        """Whether any leaf of a member was seen, but not as absent."""
        facts = (self.facts.get(member_address(family, member, leaf)) for leaf in _leaves(family))
        return any(fact is not None and not isinstance(fact.observation, Absent) for fact in facts)


@cache
def _leaves(family: str) -> tuple[str, ...]:
    """The leaves of a family's members, as the facet table has them."""
    return tuple(f.pattern.partition("[*].")[2] for f in FACETS if f.pattern.startswith(f"{family}[*]."))


@dataclass(frozen=True, kw_only=True, slots=True)
class NotObserved:
    """A host of which no snapshot could be taken, with the reason as it is told to the user."""

    host: str
    code: str
    reason: str
    detail: str = ""
    """Lines that the hint builds on, such as fingerprints, or the keys that were tried."""
    hint: str = ""
    off: bool = False
    """Whether it is switched off because somebody asked for that: nothing of it can be looked at, and that is no
    trouble."""

    @property
    def diagnostic(self) -> Diagnostic:
        """The same as a diagnostic about the host."""
        return Diagnostic(
            code=self.code,
            address=self.host,
            summary=self.reason,
            detail=self.detail,
            hint=self.hint,
            severity=Severity.NOTE if self.off else Severity.ERROR,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CollectorOutput:
    """What one collector's command printed; bytes that are no UTF-8 are replaced."""

    command: str
    stdout: str
    stderr: str
    status: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """What all collectors printed on one host: the document that a user attaches to a bug report."""

    host: str
    os: str
    arch: str
    taken: str
    collectors: Mapping[str, CollectorOutput]
    seconds: float = 0.0
