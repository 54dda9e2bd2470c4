"""A member that one of two hosts lacks as a whole is one finding, not one for each of its leaves."""

from collections.abc import Iterable, Mapping
from typing import Final

from gpuprov.model.address import member_address, pattern_of, split_address
from gpuprov.model.facets import FACETS
from gpuprov.model.fact import Known
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.snapshot import Snapshot

_ORDER: Final[Mapping[str, int]] = {facet.pattern: place for place, facet in enumerate(FACETS)}
_ONE_SIDED: Final = frozenset({FindingKind.MISSING, FindingKind.UNEXPECTED})


def fold_members(findings: Iterable[Finding], first: Snapshot, second: Snapshot) -> list[Finding]:
    """Keep one finding for a package, file or user that is on one side only; all others stay as they are.

    The one that stays is the first by the facet table among those with the strongest class: `package["x"].version`, and
    not its state and its hold as well. A member that lacks only some leaves on one side is there, and is not folded.
    """
    found = list(findings)
    groups: dict[tuple[str, str, FindingKind], list[Finding]] = {}
    for finding in found:
        parts = split_address(finding.address) if finding.kind in _ONE_SIDED else None
        if parts is not None:
            groups.setdefault((parts[0], parts[1], finding.kind), []).append(finding)
    folded: set[str] = set()
    for (family, member, kind), members in groups.items():
        lacking = second if kind is FindingKind.MISSING else first
        if len(members) > 1 and not _is_there(family, member, lacking):
            kept = min(members, key=lambda f: (not f.counts, _ORDER.get(pattern_of(f.address), len(_ORDER))))
            folded |= {finding.address for finding in members if finding is not kept}
    return [finding for finding in found if finding.address not in folded]


def _is_there(family: str, member: str, side: Snapshot) -> bool:
    head = f"{family}[*]."
    leaves = (pattern.removeprefix(head) for pattern in _ORDER if pattern.startswith(head))
    facts = (side.facts.get(member_address(family, member, leaf)) for leaf in leaves)
    return any(fact is not None and isinstance(fact.observation, Known) for fact in facts)
