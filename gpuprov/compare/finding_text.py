"""Findings as plain values of a document, and back."""

from enum import StrEnum
from typing import Any, Final, TypeVar

from gpuprov.compare.finding_id import finding_id
from gpuprov.document.shape import Fields
from gpuprov.document.snapshot_text import observation_value, read_evidence, read_observation
from gpuprov.model.facet import Cost, ParityClass
from gpuprov.model.finding import Finding, FindingKind, SideEvidence
from gpuprov.model.waiver import Waiver

E = TypeVar("E", bound=StrEnum)

_OPTIONAL: Final = ("origin", "rule", "basis")


def finding_value(finding: Finding) -> dict[str, Any]:
    """Write a finding; its id is for people and programs that follow it from report to report."""
    value: dict[str, Any] = {
        "id": finding_id(finding),
        "address": finding.address,
        "host": finding.host,
        "kind": finding.kind.value,
        "sides": list(finding.sides),
        "expected": observation_value(finding.expected),
        "observed": observation_value(finding.observed),
        "parity": finding.parity.value,
        "cost": finding.cost.value,
        "reason": finding.reason,
        "curable": finding.curable,
        "counts": finding.counts,
    }
    if finding.waiver is not None:
        waiver = finding.waiver
        value["waiver"] = {"facet": waiver.facet, "reason": waiver.reason, "until": waiver.until}
    value |= {key: text for key in _OPTIONAL if (text := getattr(finding, key))}
    if finding.evidence:
        value["evidence"] = [_evidence_value(item) for item in finding.evidence]
    if finding.asked:
        value["asked"] = True
    return value


def read_finding(row: Fields) -> Finding:
    """Read what `finding_value` wrote; GpuprovError with GP-DOC-008 when it is not that."""
    sides = row.texts("sides")
    if len(sides) != len(("expected", "observed")):
        row.refuse("sides", "two sides were expected")
    return Finding(
        address=row.text("address"),
        host=row.text("host"),
        kind=read_name(row, "kind", FindingKind),
        expected=read_observation(row.fields("expected")),
        observed=read_observation(row.fields("observed")),
        sides=(sides[0], sides[1]),
        parity=read_name(row, "parity", ParityClass),
        cost=read_name(row, "cost", Cost),
        reason=row.text("reason"),
        curable=row.flag("curable"),
        waiver=_waiver(row.fields("waiver")) if row.has("waiver") else None,
        evidence=tuple(_evidence(item) for item in row.rows("evidence")) if row.has("evidence") else (),
        asked=row.has("asked") and row.flag("asked"),
        **{key: row.text(key) for key in _OPTIONAL if row.has(key)},
    )


def read_name(row: Fields, key: str, names: type[E]) -> E:
    """Read a word that must be one of an enum's."""
    word = row.text(key)
    known = {name.value: name for name in names}
    if word not in known:
        row.refuse(key, f"one of {', '.join(known)} was expected, `{word}` was found")
    return known[word]


def _waiver(row: Fields) -> Waiver:
    return Waiver(facet=row.text("facet"), reason=row.text("reason"), until=row.text("until"))


def _evidence_value(item: SideEvidence) -> dict[str, Any]:
    found = item.evidence
    return {
        "side": item.side,
        "taken": item.taken,
        "collector": found.collector,
        "status": found.status,
        "digest": found.digest,
    }


def _evidence(row: Fields) -> SideEvidence:
    return SideEvidence(side=row.text("side"), taken=row.text("taken"), evidence=read_evidence(row))
