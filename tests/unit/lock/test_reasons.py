"""Why packages move: cases as data, each two locks made one after the other."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.lock.equal import EqualSet
from gpuprov.lock.index import MemoryIndex
from gpuprov.lock.make import LockInputs, PoolInput, make_lock
from gpuprov.lock.moves import moves
from gpuprov.lock.reasons import Reasons
from gpuprov.lock.types import Lock, Request

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "lock" / "moves.yaml").read_text(encoding="utf-8")
)


def _request(written: str | dict[str, str]) -> Request:
    if isinstance(written, str):
        name, _, constraint = written.partition(" ")
        written = {"name": name, "constraint": constraint}
    return Request(**{"constraint": "", "source": "", "address": f"stack.{written['name']}", **written})


def _pools(case: dict[str, Any], side: dict[str, Any]) -> tuple[PoolInput, ...]:
    equal = tuple(EqualSet(**{**each, "names": frozenset(each["names"])}) for each in case.get("equal", []))
    written = side.get("pools") or {"train": side["requests"]}
    return tuple(
        PoolInput(
            pool=name,
            os=side.get("os", "debian-12"),
            arch="amd64",
            requests=tuple(_request(each) for each in requests),
            equal=equal,
        )
        for name, requests in written.items()
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_move_is_told_with_its_reason(case: dict[str, Any], index_of: Callable[[Any], MemoryIndex]) -> None:
    before: Lock | None = None
    for side in (case.get("before"), case["after"]):
        if side is None:
            continue
        pools = _pools(case, side)
        indexes = {(pool.os, pool.arch): index_of(side.get("index") or case["index"]) for pool in pools}
        upgrade = frozenset(side.get("upgrade", []))
        inputs = LockInputs(
            spec_inputs="",
            catalog_inputs={},
            pin=side.get("pin", "owned"),
            sources=(),
            pools=pools,
            indexes=indexes,
            previous=before,
            upgrade=upgrade,
        )
        after = make_lock(inputs)
        assert isinstance(after, Lock), after
        reasons = Reasons(
            before=before, after=after, upgrade=upgrade, pools={p.pool: p for p in pools}, indexes=indexes
        )
        found = [
            f"{m.name} {m.before or '-'} -> {m.after or '-'} [{' '.join(m.pools)}] {m.why}".rstrip()
            for m in moves(before, after, reasons.why)
        ]
        before = after
    assert found == case["expect"]
