"""The cases of tests/cases/lock/choices.yaml that apt can be asked about, all in one archive."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from private_apt import PrivateApt, make_apt
from stanza_rows import LOW, Row, index_of, prefixed, publish

from gpuprov.lock.index import MemoryIndex

_CASES = Path(__file__).parents[1] / "cases" / "lock" / "choices.yaml"
_OURS = ("equal", "prefer", "searched")
"""What apt knows nothing of: sets of one version, an earlier lock, a search."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SmallChoices:
    """Cases by prefix; the archive holds each case's names with that prefix and a hyphen before them."""

    cases: dict[str, dict[str, Any]]
    rows: dict[str, list[Row]]

    def request(self, prefix: str) -> tuple[str, ...]:
        """What a case asks for, as the archive names it."""
        return tuple(f"{prefix}-{name}" for name in self.cases[prefix]["requests"])

    def index(self) -> MemoryIndex:
        """The archive as the resolver reads it."""
        return index_of(self.rows)

    def apt(self, folder: Path) -> PrivateApt:
        """The archive as apt reads it."""
        return make_apt(folder / "apt", publish(self.rows, folder / "sources"))


def small_choices() -> SmallChoices:
    """Read the cases that hold nothing of gpuprov's own."""
    cases = yaml.safe_load(_CASES.read_text(encoding="utf-8"))
    plain = {f"c{number}": case for number, case in enumerate(cases) if _plain(case)}
    rows: dict[tuple[int, int], list[Row]] = {}
    for prefix, case in plain.items():
        for place, members in enumerate(case["index"].values()):
            for row in members:
                rows.setdefault((place, row.get("pin", 500)), []).append(prefixed(f"{prefix}-", row))
    named = {f"{place}-{'low' if pin == LOW else 'usual'}": rows[place, pin] for place, pin in sorted(rows)}
    return SmallChoices(cases=plain, rows=named)


def _plain(case: dict[str, Any]) -> bool:
    whole = all(isinstance(request, str) and " " not in request for request in case["requests"])
    return whole and not any(key in case for key in _OURS)
