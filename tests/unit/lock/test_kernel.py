"""Each case is an archive, what the spec asks of the kernel and an earlier lock, and the kernel that is locked."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from stanza_rows import index_of

from gpuprov.lock.index import MemoryIndex
from gpuprov.lock.make import LockInputs, make_lock
from gpuprov.lock.moves import moves
from gpuprov.lock.names import unknown_names
from gpuprov.lock.pool_input import KernelNeed, PoolInput
from gpuprov.lock.reasons import Reasons
from gpuprov.lock.text import read_lock, write_lock
from gpuprov.lock.types import Lock
from gpuprov.lock.verdict import judge
from gpuprov.lock.verdict_text import newer_diagnostic
from gpuprov.model.diagnostic import Diagnostic

FILE = yaml.safe_load((Path(__file__).parents[2] / "cases" / "lock" / "kernel.yaml").read_text())


def inputs_of(case: dict[str, Any], previous: Lock | None = None) -> LockInputs:
    need = KernelNeed(
        release=case.get("release", ""), image=case.get("image", "linux-image-amd64"), address="stack.kernel"
    )
    index: MemoryIndex = index_of({"os/bookworm": FILE["index"][case["archive"]]})
    return LockInputs(
        spec_inputs="s",
        catalog_inputs={},
        pin=case.get("pin", "owned"),
        sources=(),
        pools=(PoolInput(pool="train", os="debian-12", arch="amd64", requests=(), kernel=need),),
        indexes={("debian-12", "amd64"): index},
        previous=previous,
        upgrade=frozenset(case.get("upgrade", [])),
    )


def locked(inputs: LockInputs) -> Lock:
    answer = make_lock(inputs)
    assert isinstance(answer, Lock), answer
    return answer


def verdict_of(lock: Lock, inputs: LockInputs) -> Any:
    return judge(
        lock, spec_inputs="s", catalog_inputs={}, sources=(), pools=inputs.pools, images=(), indexes=inputs.indexes
    )


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["name"])
def test_kernel(case: dict[str, Any]) -> None:
    before = locked(inputs_of(case["before"])) if "before" in case else None
    inputs = inputs_of(case, before)
    answer = make_lock(inputs)
    if "refused" in case:
        assert not isinstance(answer, Lock)
        (found,) = answer
        assert [found.code, found.address] == case["refused"]
        told = f"{found.summary} {found.detail} {found.hint}"
        assert [word for word in case["words"] if word not in told] == []
        return
    assert isinstance(answer, Lock)
    pool = answer.pools["train"]
    assert [pool.kernel, *(f"{row.name} {row.version}" for row in pool.packages)] == case["expect"]
    verdict = verdict_of(answer, inputs)
    assert verdict.reasons == ()
    if "newer" in case:
        assert [f"{n.name} {n.locked} {n.offered}" for n in verdict.newer] == case["newer"]
        note = newer_diagnostic(verdict)
        assert note is not None
        assert "a kernel only by its name" in note.hint
    if before is not None:
        stale = [f"{r.address}: {r.locked} -> {r.found}" for r in verdict_of(before, inputs).reasons]
        assert stale == case.get("stale", [])
    reasons = Reasons(
        before=before,
        after=answer,
        upgrade=inputs.upgrade,
        pools={p.pool: p for p in inputs.pools},
        indexes=inputs.indexes,
    )
    why = {move.name: move.why for move in moves(before, answer, reasons.why)}
    assert {name: why.get(name) for name in case.get("moved", {})} == case.get("moved", {})


def test_a_lock_keeps_its_kernel_through_its_text() -> None:
    lock = locked(inputs_of({"archive": "old"}))
    assert read_lock(write_lock(lock), "gpuprov.lock") == lock
    without = locked(
        replace(
            inputs_of({"archive": "old"}), pools=(PoolInput(pool="train", os="debian-12", arch="amd64", requests=()),)
        )
    )
    assert '"kernel"' not in write_lock(without)


def test_the_name_kernel_can_be_upgraded_only_where_one_is_locked() -> None:
    lock = locked(inputs_of({"archive": "old"}))
    assert unknown_names({"kernel"}, None, lock) == ()
    free = replace(lock, pools={"train": replace(lock.pools["train"], kernel="")})
    (found,) = unknown_names({"kernel"}, None, free)
    assert isinstance(found, Diagnostic)
    assert found.code == "GP-LOCK-009"
