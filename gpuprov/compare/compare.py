"""Compare: expectations with a snapshot, or two snapshots, facet by facet."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from gpuprov.compare.comparators import COMPARATORS, SYMMETRIC, compare_equal
from gpuprov.compare.compatible import RULES, Judgement
from gpuprov.compare.facets import facet_of
from gpuprov.compare.fold import fold_members
from gpuprov.document.snapshot_rows import RowFacts
from gpuprov.model.address import split_address
from gpuprov.model.facet import Facet, ParityClass
from gpuprov.model.fact import Absent, Evidence, Known, Observation, Unknown
from gpuprov.model.finding import Finding, FindingKind, SideEvidence
from gpuprov.model.snapshot import Snapshot
from gpuprov.want.types import Expectation

ComponentOf = Callable[[str], str | None]
"""The component of the GPU stack that a package belongs to; None for a package outside it."""

Verdict = tuple[FindingKind, str]
"""How two observations disagree, and why where that needs saying."""

LOCK_SIDE = "lock"
"""What the wanted side is called in findings."""

_ON_DISK = "stack.driver.on_disk"
_LOADED = "stack.driver.loaded"
# What the loaded module decides: these follow it, so with the right module on disk a reboot ends them all.
_AFTER_REBOOT = frozenset({_LOADED, "stack.driver.nvml", "stack.driver.modules"})


def compare_want(
    expectations: Iterable[Expectation], snapshot: Snapshot, *, side: str = LOCK_SIDE
) -> tuple[Finding, ...]:
    """Hold expectations against a snapshot: one finding per expectation that is not met or cannot be checked.

    Args:
        expectations: what is wanted.
        snapshot: what was seen.
        side: what the wanted side is called.
    """
    wanted = tuple(expectations)
    findings = [finding for expectation in wanted if (finding := _find(expectation, snapshot, side)) is not None]
    return _mark_reboot(wanted, findings, snapshot)


def _find(expectation: Expectation, snapshot: Snapshot, side: str) -> Finding | None:
    facet = facet_of(expectation.address)
    observed = snapshot.observe(expectation.address)
    verdict = _disagree(expectation.value, observed, expectation.comparator)
    if verdict is None:
        return None
    kind, why = verdict
    return Finding(
        address=expectation.address,
        host=snapshot.host,
        kind=kind,
        expected=expectation.value,
        observed=observed,
        sides=(side, snapshot.host),
        parity=_wanted_class(facet),
        cost=expectation.cost,
        reason=why or facet.reason,
        curable=expectation.curable,
        origin=expectation.reason,
        evidence=_evidence(expectation.address, facet, snapshot),
    )


def _wanted_class(facet: Facet) -> ParityClass:
    """What two hosts may well differ in counts all the same where it is wanted."""
    return ParityClass.MUST_EQUAL if facet.parity is ParityClass.INFORMATIONAL else facet.parity


def _evidence(address: str, facet: Facet, *sides: Snapshot) -> tuple[SideEvidence, ...]:
    """What the observations at an address rest on; for a member that is not there, the look at its family."""
    found = []
    for side in sides:
        fact = side.facts.get(address)
        seen = fact.evidence if fact is not None else _look_of(facet.collector, side)
        if seen is not None:
            found.append(SideEvidence(side=side.host, taken=side.taken, evidence=seen))
    return tuple(found)


def _look_of(collector: str, side: Snapshot) -> Evidence | None:
    seen = (fact.evidence for fact in side.facts.values() if fact.evidence is not None)
    return next((evidence for evidence in seen if evidence.collector == collector), None)


def _disagree(expected: Observation, observed: Observation, comparator: str) -> Verdict | None:
    """How two observations disagree; None when they agree."""
    unknown = next((side for side in (expected, observed) if isinstance(side, Unknown)), None)
    if unknown is not None:
        return FindingKind.UNKNOWN, unknown.reason
    if isinstance(expected, Known) and isinstance(observed, Known):
        same = COMPARATORS[comparator](expected.value, observed.value)
        # One value is equal to itself, also where the comparator cannot read it; what must not be there never is.
        if comparator not in {"lacks", "excludes"}:
            same = compare_equal(expected.value, observed.value) or same
        if same is None:
            return (
                FindingKind.UNKNOWN,
                f"{expected.value!s} and {observed.value!s} prove neither equality nor difference",
            )
        return None if same else (FindingKind.DIFFERENT, "")
    if isinstance(expected, Known):
        return None if comparator in {"unset", "lacks", "excludes"} else (FindingKind.MISSING, "")
    return None if isinstance(observed, Absent) else (FindingKind.UNEXPECTED, "")


def _mark_reboot(wanted: tuple[Expectation, ...], findings: list[Finding], snapshot: Snapshot) -> tuple[Finding, ...]:
    """Name the state in which the next boot loads the right module: `reboot pending`, not drift."""
    by_address = {finding.address: finding for finding in findings}
    loaded = by_address.get(_LOADED)
    disk_wanted = any(expectation.address == _ON_DISK for expectation in wanted)
    if loaded is None or loaded.kind is not FindingKind.DIFFERENT or not disk_wanted or _ON_DISK in by_address:
        return tuple(findings)
    why = _disk_and_loaded(snapshot)
    return tuple(
        replace(finding, kind=FindingKind.REBOOT_PENDING, reason=why)
        if finding.address in _AFTER_REBOOT and finding.kind is not FindingKind.UNKNOWN
        else finding
        for finding in findings
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What two hosts differ in, and how much of them could be compared."""

    findings: tuple[Finding, ...]
    facets: int
    """Facets that could be compared: those that neither side lacks for want of a look."""


def compare_snapshots(
    first: Snapshot,
    second: Snapshot,
    *,
    component_of: ComponentOf,
    sides: tuple[str, str] | None = None,
    basis: str = "",
) -> Difference:
    """Compare two hosts by the facet table; each side's unknowns stay findings.

    Args:
        first: the side that counts as expected.
        second: the host that the findings are about.
        component_of: decides which packages must be equal; packages outside the GPU stack are informational.
        sides: what the two are called; None takes the hosts' names.
        basis: what the first side stands for where it is one of several hosts.
    """
    pair = _Pair(first=first, second=second, sides=sides or (first.host, second.host), basis=basis)
    unknown = 0
    found: list[Finding] = []
    for address in sorted(_unsettled(first, second)):
        expected, observed = first.observe(address), second.observe(address)
        unknown += isinstance(expected, Unknown) or isinstance(observed, Unknown)
        finding = _differ(address, expected, observed, pair, component_of)
        if finding is not None:
            found.append(finding)
    return Difference(
        findings=_mark_reboot_between(fold_members(found, first, second), first, second),
        facets=len(first.facts.keys() | second.facts.keys()) - unknown,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pair:
    """Two hosts, and what the sides are called."""

    first: Snapshot
    second: Snapshot
    sides: tuple[str, str]
    basis: str


def _unsettled(first: Snapshot, second: Snapshot) -> Collection[str]:
    """The addresses that must be looked at: all but those at which both sides hold the same known value or nothing.

    Snapshots that were read with one cache of rows share equal rows, so that most of a fleet's facts are settled here.
    """
    if isinstance(first.facts, RowFacts) and isinstance(second.facts, RowFacts):
        return first.facts.unsettled(second.facts)
    return {*first.facts, *second.facts}


def _mark_reboot_between(findings: list[Finding], first: Snapshot, second: Snapshot) -> tuple[Finding, ...]:
    """Name the state in which both hosts have one module on disk, and one of them still has another loaded."""
    by_address = {finding.address: finding for finding in findings}
    loaded = by_address.get(_LOADED)
    if loaded is None or loaded.kind is not FindingKind.DIFFERENT or _ON_DISK in by_address:
        return tuple(findings)
    pending = [
        f"on {name} {_disk_and_loaded(side)}"
        for name, side in zip(loaded.sides, (first, second), strict=True)
        if _disagree(side.observe(_ON_DISK), side.observe(_LOADED), "upstream") is not None
    ]
    if not pending:
        return tuple(findings)
    return tuple(
        replace(finding, kind=FindingKind.REBOOT_PENDING, reason="; ".join(pending))
        if finding.address in _AFTER_REBOOT and finding.kind is FindingKind.DIFFERENT
        else finding
        for finding in findings
    )


def count_comparable(expectations: Iterable[Expectation], snapshot: Snapshot) -> int:
    """How many expectations can be held against a snapshot: those at whose address something was seen."""
    return sum(not isinstance(snapshot.observe(e.address), Unknown) for e in expectations)


def _differ(
    address: str, expected: Observation, observed: Observation, pair: _Pair, component_of: ComponentOf
) -> Finding | None:
    facet = facet_of(address)
    verdict = _disagree(expected, observed, SYMMETRIC.get(facet.comparator, facet.comparator))
    if verdict is None:
        return None
    kind, why = verdict
    parity = _parity_class(address, facet, component_of)
    if kind is FindingKind.DIFFERENT and facet.rule:
        kind, why, parity = _by_rule(facet, RULES[facet.rule](pair.first, pair.second))
    return Finding(
        address=address,
        host=pair.second.host,
        kind=kind,
        expected=expected,
        observed=observed,
        sides=pair.sides,
        parity=parity,
        cost=facet.cost,
        reason=why or facet.reason,
        curable=False,
        rule=facet.rule,
        evidence=_evidence(address, facet, pair.first, pair.second),
        basis=pair.basis,
    )


def _by_rule(facet: Facet, judgement: Judgement) -> tuple[FindingKind, str, ParityClass]:
    """What a difference is by the facet's rule: one between compatible values is told, and has no say."""
    if judgement.compatible:
        why = f"compatible by the rule {facet.rule}; {facet.reason}"
        return FindingKind.DIFFERENT, why, ParityClass.INFORMATIONAL
    kind = FindingKind.UNKNOWN if judgement.compatible is None else FindingKind.DIFFERENT
    return kind, judgement.reason, facet.parity


def _parity_class(address: str, facet: Facet, component_of: ComponentOf) -> ParityClass:
    parts = split_address(address)
    if parts is not None and parts[0] == "package" and component_of(parts[1]) is None:
        return ParityClass.INFORMATIONAL
    return facet.parity


def _disk_and_loaded(side: Snapshot) -> str:
    disk, loaded = (_text(side.observe(address)) for address in (_ON_DISK, _LOADED))
    return f"the module on disk is {disk}, the loaded one is {loaded}"


def _text(observation: Observation) -> str:
    match observation:
        case Known(value):
            return str(value)
        case Absent():
            return "absent"
        case Unknown(reason):
            return f"unknown ({reason})"
