"""What the parts of a plan give: changes, and findings that no change ends."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from gpuprov.model.address import split_address
from gpuprov.model.change import Change
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.snapshot import Snapshot
from gpuprov.want.expectations import GONE, HAND_BACK
from gpuprov.want.types import HostWant, Owned


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """What all parts of a host's plan look at."""

    want: HostWant
    snapshot: Snapshot
    owned: Owned
    findings: tuple[Finding, ...]
    """The unwaived ones."""

    @property
    def why_gone(self) -> str:
        """Why something of ours that nobody wants goes."""
        return HAND_BACK if self.want.pool.hand_back else GONE

    def at(self, address: str) -> Finding | None:
        """The finding at an address; None when there is none."""
        return next((finding for finding in self.findings if finding.address == address), None)

    def members(self, family: str) -> Iterator[tuple[str, dict[str, Finding]]]:
        """The findings of a family by member, each as leaf -> finding, in the order of the findings."""
        groups: dict[str, dict[str, Finding]] = {}
        for finding in self.findings:
            parts = split_address(finding.address)
            if parts is not None and parts[0] == family:
                groups.setdefault(parts[1], {})[parts[2]] = finding
        yield from groups.items()


@dataclass(kw_only=True, slots=True)
class Cure:
    """Changes, and what they leave; the parts of a plan add to it."""

    changes: list[Change] = field(default_factory=list)
    not_curable: list[Finding] = field(default_factory=list)
    unknown: list[Finding] = field(default_factory=list)

    def leave(self, findings: Iterable[Finding]) -> None:
        """Take findings that no change ends: an unknown one is unknown, any other is not curable.

        An expectation says what gpuprov can change at all; that nothing here ends the finding is known only now, and
        the finding must say the same as the list that it is in.
        """
        for finding in findings:
            left = replace(finding, curable=False)
            (self.unknown if finding.kind is FindingKind.UNKNOWN else self.not_curable).append(left)


def text_of(observation: Observation) -> str:
    """An observation as people read it in a plan; empty for what is absent."""
    match observation:
        case Known(bool() as flag):
            return "yes" if flag else "no"
        case Known(value):
            return str(value)
        case Absent():
            return ""
        case Unknown(reason):
            return f"unknown: {reason}"
