"""Public reports about locks, each as data with its id."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from lock_cases import lock_of

from gpuprov.lock.moves import moves
from gpuprov.lock.reasons import Reasons
from gpuprov.lock.text import read_lock, write_lock
from gpuprov.lock.types import Lock

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "reports" / "lock.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}: {case['name']}")
def test_a_report(case: dict[str, Any]) -> None:
    before: Lock | None = None
    if "before" in case:
        made, _, _ = lock_of({**case, **case["before"]})
        assert isinstance(made, Lock), made
        before = made
    last = {**case, **case.get("after", {})}
    answer, pools, indexes = lock_of(last, before)
    if not isinstance(answer, Lock):
        (found,) = answer
        text = f"{found.summary}\n{found.detail}\n{found.hint}"
        assert (found.code, [part for part in case["says"] if part not in text]) == (case["code"], []), text
        assert found.address == case.get("address", found.address)
        return
    assert "code" not in case, "this was to be refused"
    assert read_lock(write_lock(answer), "gpuprov.lock") == answer
    rows = answer.pools["train"].packages
    if "rows" in case:
        assert [f"{row.name} {row.version}" for row in rows] == case["rows"]
    sources = {row.name: row.source for row in rows}
    assert sources | case.get("sources", {}) == sources
    if "moves" in case:
        upgrade = frozenset(last.get("upgrade", []))
        by_name = {pool.pool: pool for pool in pools}
        reasons = Reasons(before=before, after=answer, upgrade=upgrade, pools=by_name, indexes=indexes)
        told = [
            f"{m.name} {m.before or '-'} -> {m.after or '-'} [{' '.join(m.pools)}] {m.why}"
            for m in moves(before, answer, reasons.why)
        ]
        assert told == case["moves"]
