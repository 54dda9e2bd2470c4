"""Why packages move: cases as data, each two locks made one after the other."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from lock_cases import lock_of

from gpuprov.lock.moves import moves
from gpuprov.lock.reasons import Reasons
from gpuprov.lock.types import Lock

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "lock" / "moves.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_move_is_told_with_its_reason(case: dict[str, Any]) -> None:
    before: Lock | None = None
    if "before" in case:
        made, _, _ = lock_of({**case, **case["before"]})
        assert isinstance(made, Lock), made
        before = made
    last = {**case, **case["after"]}
    after, pools, indexes = lock_of(last, before)
    assert isinstance(after, Lock), after
    reasons = Reasons(
        before=before,
        after=after,
        upgrade=frozenset(last.get("upgrade", [])),
        pools={pool.pool: pool for pool in pools},
        indexes=indexes,
    )
    found = [
        f"{m.name} {m.before or '-'} -> {m.after or '-'} [{' '.join(m.pools)}] {m.why}".rstrip()
        for m in moves(before, after, reasons.why)
    ]
    assert found == case["expect"]
