"""Cases about locks, written as data: pools, requests and sets to values, and the lock that they give."""

from collections.abc import Mapping
from typing import Any

from stanza_rows import index_of

from gpuprov.lock.index import Index
from gpuprov.lock.make import LockInputs, make_lock
from gpuprov.lock.pool_input import EqualSet, PoolInput, Request
from gpuprov.lock.types import Lock
from gpuprov.model.diagnostic import Diagnostic

Indexes = Mapping[tuple[str, str], Index]


def request_of(written: str | Mapping[str, str]) -> Request:
    """A request from `NAME CONSTRAINT`, or from its fields; its address names the package unless it is given."""
    if isinstance(written, str):
        name, _, constraint = written.partition(" ")
        written = {"name": name, "constraint": constraint}
    return Request(**{"constraint": "", "source": "", "address": f"stack.packages.{written['name']}", **written})


def equal_of(*, label: str, names: list[str], driver: bool = False, apart: tuple[str, ...] = ()) -> EqualSet:
    """A set of one version from its fields."""
    return EqualSet(label=label, names=frozenset(names), driver=driver, apart=frozenset(apart))


def pools_of(case: Mapping[str, Any]) -> tuple[PoolInput, ...]:
    """The pools of a case: `pools`, or one called train with `requests`; all on one OS."""
    return tuple(
        PoolInput(
            pool=name,
            os=case.get("os", "debian-12"),
            arch=case.get("arch", "amd64"),
            requests=tuple(request_of(each) for each in requests),
            equal=tuple(equal_of(**each) for each in case.get("equal", [])),
        )
        for name, requests in (case.get("pools") or {"train": case["requests"]}).items()
    )


def lock_of(
    case: Mapping[str, Any], previous: Lock | None = None
) -> tuple[Lock | tuple[Diagnostic, ...], tuple[PoolInput, ...], Indexes]:
    """Make the lock of a case (`index`, pools, `pin`, `upgrade`); gives what it was made from, too."""
    pools = pools_of(case)
    indexes: Indexes = {(pool.os, pool.arch): index_of(case["index"]) for pool in pools}
    inputs = LockInputs(
        spec_inputs="",
        catalog_inputs={},
        pin=case.get("pin", "owned"),
        sources=(),
        pools=pools,
        indexes=indexes,
        previous=previous,
        upgrade=frozenset(case.get("upgrade", [])),
    )
    return make_lock(inputs), pools, indexes
