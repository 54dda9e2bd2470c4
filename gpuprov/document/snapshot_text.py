"""Snapshot to text and back: facts as rows, one a line, evidence once per collector."""

from typing import Any, Final

from gpuprov.document.envelope import open_document, seal
from gpuprov.document.shape import Fields
from gpuprov.model.fact import Absent, Evidence, Fact, Known, Observation, Unknown, Value
from gpuprov.model.snapshot import Snapshot

KIND: Final = "Snapshot"


def write_snapshot(snapshot: Snapshot) -> str:
    """Write a Snapshot as sealed JSON text; facts are sorted by address."""
    evidence: dict[str, Evidence] = {}
    rows = [_fact_row(snapshot.facts[address], evidence) for address in sorted(snapshot.facts)]
    body = {
        "host": snapshot.host,
        "taken": snapshot.taken,
        # Canonical JSON has no floats: a duration is kept in whole milliseconds.
        "milliseconds": round(snapshot.seconds * 1000),
        "families": {name: observation_value(snapshot.families[name]) for name in sorted(snapshot.families)},
        "evidence": {
            name: {"collector": item.collector, "status": item.status, "digest": item.digest}
            for name, item in evidence.items()
        },
        "facts": rows,
    }
    return seal(KIND, body)


def read_snapshot(text: str, file: str) -> Snapshot:
    """Read a Snapshot; errors as `open_document` and `Fields`."""
    body = Fields(open_document(text, file, KIND), file)
    evidence = {name: read_evidence(row) for name, row in body.table("evidence").items()}
    facts: dict[str, Fact] = {}
    for row in body.rows("facts"):
        fact = _read_fact(row, evidence)
        if fact.address in facts:
            row.refuse("address", f"the address {fact.address} occurs twice")
        facts[fact.address] = fact
    return Snapshot(
        host=body.text("host"),
        taken=body.text("taken"),
        facts=facts,
        families={name: read_observation(row) for name, row in body.table("families").items()},
        seconds=body.integer("milliseconds") / 1000,
    )


def read_evidence(row: Fields) -> Evidence:
    """Read one row of the table of evidence (GP-DOC-008)."""
    return Evidence(collector=row.text("collector"), status=row.integer("status"), digest=row.text("digest"))


def observation_value(observation: Observation) -> dict[str, Any]:
    """An Observation as a plain value: `{"known": ...}`, `{"absent": true}` or `{"unknown": reason}`."""
    match observation:
        case Known(value=value):
            return {"known": value}
        case Absent():
            return {"absent": True}
        case Unknown(reason=reason):
            return {"unknown": reason}


def read_observation(row: Fields) -> Observation:
    """Read what `observation_value` wrote; exactly one of the three keys must be there (GP-DOC-008)."""
    given = [key for key in ("known", "absent", "unknown") if row.has(key)]
    if given == ["known"]:
        return Known(_checked(row, row.raw("known")))
    if given == ["absent"] and row.flag("absent"):
        return Absent()
    if given != ["unknown"]:
        row.refuse("known", "exactly one of known, absent and unknown was expected")
    return Unknown(row.text("unknown"))


def _checked(row: Fields, value: Any) -> Value:
    """Refuse null anywhere in a known value: what is not known has its own kind."""
    if isinstance(value, list):
        return [_checked(row, member) for member in value]
    if isinstance(value, dict):
        return {key: _checked(row, member) for key, member in value.items()}
    if not isinstance(value, str | int):
        row.refuse("known", "null is no known value")
    return value


def _fact_row(fact: Fact, evidence: dict[str, Evidence]) -> dict[str, Any]:
    row: dict[str, Any] = {"address": fact.address, **observation_value(fact.observation)}
    if fact.evidence is not None:
        row["evidence"] = _evidence_name(fact.evidence, evidence)
    return row


def _evidence_name(item: Evidence, evidence: dict[str, Evidence]) -> str:
    """The collector's name, with a number where one collector left several pieces of evidence."""
    name, number = item.collector, 1
    while evidence.setdefault(name, item) != item:
        number += 1
        name = f"{item.collector}#{number}"
    return name


def _read_fact(row: Fields, evidence: dict[str, Evidence]) -> Fact:
    found: Evidence | None = None
    if row.has("evidence"):
        name = row.text("evidence")
        if name not in evidence:
            row.refuse("evidence", f"no evidence is called {name}")
        found = evidence[name]
    return Fact(address=row.text("address"), observation=read_observation(row), evidence=found)
