"""Many snapshots, read one after the other: a row that many hosts share is parsed once.

Hosts of a fleet agree in nearly all of their facts, and each fact is a row of its own in the text. A cache from a row's
text to what it says spares the parsing, makes the digest cheap, and lets `compare` see at once where two hosts agree.
"""

import json
from collections.abc import Iterator, KeysView, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gpuprov.document.canonical import digest_text
from gpuprov.document.envelope import API_VERSION, check_head, parse_machine_json
from gpuprov.document.shape import Fields
from gpuprov.document.snapshot_text import KIND, read_observation, read_snapshot
from gpuprov.document.text import MACHINE_LIMIT
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.fact import Evidence, Fact, Observation, Unknown
from gpuprov.model.snapshot import Snapshot

_ROWS: Final = 1 << 15
"""Most rows that a cache keeps; those that a fleet shares are among the first that are seen."""
# The layout of `write_snapshot`: the facts are the body's last field, and each begins and ends at one depth.
_OPEN: Final = '\n    "facts": [\n      {'
_BETWEEN: Final = "},\n      {"
_CLOSE: Final = "}\n    ]\n  }\n}\n"
_EVIDENCE: Final = {"collector": str, "status": int, "digest": str}
_NO_FACTS: Final = '"facts":[]'
_EMPTY: Final = '\n    "facts": []\n  }\n}\n'


# Canonical JSON of what was parsed: nothing that `canonical_json` would refuse gets through `parse_machine_json`.
_canonical: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


@dataclass(frozen=True, slots=True, eq=False)
class FactRow:
    """One row of a snapshot's text, parsed; rows of one cache with the same text are one object."""

    address: str
    observation: Observation
    evidence: str
    """The name of its evidence in the snapshot's own table; empty for none."""
    canonical: str


@dataclass(frozen=True, slots=True)
class RowCache:
    """Rows by their text, for snapshots that are read one after the other."""

    rows: dict[str, FactRow] = field(default_factory=dict)

    def row(self, text: str) -> FactRow:
        """The row of a text; GpuprovError or ValueError when it is none."""
        found = self.rows.get(text)
        if found is None:
            found = _read_row(text)
            if len(self.rows) < _ROWS:
                self.rows[text] = found
        return found


class RowFacts(Mapping[str, Fact]):
    """The facts of one snapshot; a Fact is made when somebody asks for it.

    Args:
        rows: by address.
        evidence: the snapshot's own table, as it was read.
    """

    __slots__ = ("_evidence", "_made", "_unknown", "rows")

    def __init__(self, rows: dict[str, FactRow], evidence: Mapping[str, Mapping[str, Any]]) -> None:
        self.rows = rows
        self._evidence = evidence
        self._made: dict[str, Fact] = {}
        self._unknown: frozenset[str] | None = None

    def __getitem__(self, address: str) -> Fact:
        made = self._made.get(address)
        if made is None:
            row = self.rows[address]
            evidence = Evidence(**self._evidence[row.evidence]) if row.evidence else None
            made = self._made[address] = Fact(address=address, observation=row.observation, evidence=evidence)
        return made

    def get(self, address: str, default: Any = None) -> Any:
        """The fact at an address; most members that somebody asks for are not there."""
        return self[address] if address in self.rows else default

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, address: object) -> bool:
        return address in self.rows

    def keys(self) -> KeysView[str]:
        """The addresses."""
        return self.rows.keys()

    def unsettled(self, other: "RowFacts") -> set[str]:
        """The addresses of either side, but those at which both have one row and it is not Unknown."""
        mine, theirs = self.rows, other.rows
        if self._unknown is None:
            self._unknown = frozenset(a for a, row in mine.items() if isinstance(row.observation, Unknown))
        moved = {address for address, row in theirs.items() if mine.get(address) is not row}
        return moved | (mine.keys() - theirs.keys()) | self._unknown


def read_snapshot_rows(text: str, file: str, cache: RowCache) -> Snapshot:
    """Read a Snapshot as `read_snapshot` does, with the same result and the same errors.

    Args:
        text: the document.
        file: its name.
        cache: shared by the snapshots that are to be compared.
    """
    return _read_quickly(text, cache) or read_snapshot(text, file)


def _read_quickly(text: str, cache: RowCache) -> Snapshot | None:
    """Read a text of the known layout; None for any other, and for one with an error, which the plain reader names."""
    start = text.find(_OPEN)
    if start < 0 or not text.endswith(_CLOSE) or len(text) > MACHINE_LIMIT:
        return None
    try:
        head = parse_machine_json(text[:start] + _EMPTY)
        check_head(head, "", KIND)
        known = cache.rows
        rows = [
            known.get(chunk) or cache.row(chunk) for chunk in text[start + len(_OPEN) : -len(_CLOSE)].split(_BETWEEN)
        ]
        body = Fields(head["body"], "")
        if head["digest"] != _digest(body.value, rows):
            return None
        return _snapshot(body, {row.address: row for row in rows}, len(rows))
    except (GpuprovError, ValueError, KeyError, RecursionError):
        return None


def _snapshot(body: Fields, rows: dict[str, FactRow], number: int) -> Snapshot | None:
    evidence = body.raw("evidence")
    if not isinstance(evidence, dict) or not all(_is_evidence(row) for row in evidence.values()):
        return None
    if len(rows) != number or not {row.evidence for row in rows.values()} <= evidence.keys() | {""}:
        return None
    return Snapshot(
        host=body.text("host"),
        taken=body.text("taken"),
        facts=RowFacts(rows, evidence),
        families={name: read_observation(row) for name, row in body.table("families").items()},
        seconds=body.integer("milliseconds") / 1000,
    )


def _is_evidence(row: object) -> bool:
    """Whether a row of the table has just the fields of evidence; one that has more is left to the plain reader."""
    return (
        type(row) is dict
        and len(row) == len(_EVIDENCE)
        and all(type(row.get(name)) is kind for name, kind in _EVIDENCE.items())
    )


def _read_row(text: str) -> FactRow:
    value = parse_machine_json("{" + text + "}")
    row = Fields(value, "")
    evidence = row.text("evidence") if row.has("evidence") else ""
    if row.has("evidence") and not evidence:
        raise ValueError("evidence without a name")
    return FactRow(row.text("address"), read_observation(row), evidence, _canonical(value))


def _digest(body: Mapping[str, Any], rows: list[FactRow]) -> str:
    """The document's digest; the rows' canonical texts are at hand.

    Raises:
        ValueError: what stands for the rows occurs elsewhere in the document too.
    """
    before, mark, after = _canonical({"apiVersion": API_VERSION, "body": body, "kind": KIND}).partition(_NO_FACTS)
    if not mark or _NO_FACTS in after:
        raise ValueError(_NO_FACTS)
    return digest_text(f'{before}"facts":[{",".join([row.canonical for row in rows])}]{after}')
