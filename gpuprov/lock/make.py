"""Making a lock: every pool's requests resolved, and what of the answer is pinned."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from gpuprov.document.canonical import digest
from gpuprov.lock.candidates import is_os_name
from gpuprov.lock.index import Index, Stanza
from gpuprov.lock.kernel import KERNEL, kept_release, kernel_names, kernel_requests, locked_release
from gpuprov.lock.pool_input import PoolInput, Request
from gpuprov.lock.resolve import Problem, Resolution, resolve
from gpuprov.lock.text import lock_digest
from gpuprov.lock.types import Lock, LockedFrameworks, LockedImage, LockedPool, LockedSource
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.package import Bound
from gpuprov.model.version import upstream
from gpuprov.spec.storage import SHARED
from gpuprov.spec.types import Spec

ALL: Final = "*"
"""In `upgrade`: every package and every base image may move."""
_LIST_PLACE: Final = re.compile(r"\[[0-9]+\]$")


@dataclass(frozen=True, kw_only=True, slots=True)
class LockInputs:
    """Everything that a lock depends on."""

    spec_inputs: str
    """From `spec_inputs`."""
    catalog_inputs: Mapping[str, str]
    """From `requests.catalog_inputs`."""
    pin: str
    """lock.pin: owned | closure."""
    sources: tuple[LockedSource, ...]
    pools: tuple[PoolInput, ...]
    indexes: Mapping[tuple[str, str], Index]
    """One index for each OS and architecture."""
    previous: Lock | None = None
    """Its versions are kept where they are still offered and allowed."""
    upgrade: frozenset[str] = field(default_factory=frozenset)
    """Packages whose earlier version is not kept; ALL for every one."""
    images: tuple[LockedImage, ...] = ()
    """Base images of the cloud pools: kept ones and newly found ones."""
    frameworks: Mapping[str, LockedFrameworks] = field(default_factory=dict)
    """Python packages by pool: kept ones and newly resolved ones."""


def spec_inputs(spec: Spec) -> str:
    """Digest over the part of a spec that its lock depends on; hosts, files, checks and waivers have no say."""
    return digest(
        {
            "os": spec.os,
            "pin": spec.pin,
            "sources": {name: asdict(source) for name, source in spec.sources.items()},
            "pools": {
                name: {"os": pool.os, "gpu": pool.gpu.model if pool.gpu else "", "stack": asdict(pool.stack)}
                | ({"shares": True} if any(s.kind == SHARED and s.serves(name) for s in spec.storage.values()) else {})
                for name, pool in spec.pools.items()
            },
        }
    )


def make_lock(inputs: LockInputs) -> Lock | tuple[Diagnostic, ...]:
    """Resolve every pool; the same inputs give the same lock, in whatever order sources and pools come."""
    pools: dict[str, LockedPool] = {}
    wrong: list[Diagnostic] = []
    for pool in sorted(inputs.pools, key=lambda p: p.pool):
        answer = _make_pool(inputs, pool)
        if isinstance(answer, LockedPool):
            pools[pool.pool] = answer
        else:
            wrong += [d for d in answer if d not in wrong]
    if wrong:
        return tuple(wrong)
    lock = Lock(
        spec_inputs=inputs.spec_inputs,
        catalog_inputs=inputs.catalog_inputs,
        sources=tuple(sorted(_recorded(inputs, pools), key=lambda s: s.name)),
        pools=pools,
        images=tuple(sorted(inputs.images)),
        digest="",
    )
    return replace(lock, digest=lock_digest(lock))


def _recorded(inputs: LockInputs, pools: Mapping[str, LockedPool]) -> list[LockedSource]:
    """All sources that hosts get; of the OS archive just the suites that pinned rows come from."""
    used = {row.source for pool in pools.values() for row in pool.packages}
    return [source for source in inputs.sources if source.on_host or source.name in used]


def _make_pool(inputs: LockInputs, pool: PoolInput) -> LockedPool | tuple[Diagnostic, ...]:
    index = inputs.indexes.get((pool.os, pool.arch))
    if index is None:
        summary = f"no index was opened for {pool.os} on {pool.arch}"
        raise GpuprovError(Diagnostic(code="GP-INT-001", address=f"pools.{pool.pool}", summary=summary))
    kernel = _kernel(inputs, pool, index)
    if isinstance(kernel, Diagnostic):
        return (kernel,)
    problem = Problem(
        index=index,
        requests=(*pool.requests, *kernel_requests(kernel, pool.kernel.address if pool.kernel else "")),
        equal=pool.equal,
        prefer=kept_versions(inputs.previous, pool, inputs.upgrade),
    )
    answer = resolve(problem)
    if not isinstance(answer, Resolution):
        return answer
    pinned = _pinned(answer, {request.name for request in problem.requests}, inputs)
    drivers = [head.upstream for head in answer.heads if head.equal.driver]
    return LockedPool(
        pool=pool.pool,
        os=pool.os,
        arch=pool.arch,
        requests=recorded_requests(pool.requests),
        packages=tuple(stanza.row for stanza in pinned),
        bounds=_bounds(answer.chosen, pinned),
        driver=drivers[0] if drivers else "",
        frameworks=inputs.frameworks.get(pool.pool),
        kernel=kernel,
    )


def _kernel(inputs: LockInputs, pool: PoolInput, index: Index) -> str | Diagnostic:
    if pool.kernel is None:
        return ""
    kept = kept_release(inputs.previous, pool.pool, (pool.os, pool.arch), inputs.upgrade)
    return locked_release(pool.kernel, index, kept)


def recorded_requests(requests: Iterable[Request]) -> tuple[Request, ...]:
    """Requests as a lock records them: without their places in the lists of the spec, which move for nothing."""
    plain = {replace(request, address=_LIST_PLACE.sub("", request.address)) for request in requests}
    return tuple(sorted(plain))


def kept_versions(previous: Lock | None, pool: PoolInput, upgrade: Iterable[str]) -> dict[str, str]:
    """The versions of an earlier lock that a new one prefers."""
    released = frozenset(upgrade)
    before = previous.pools.get(pool.pool) if previous is not None else None
    if before is None or (before.os, before.arch) != (pool.os, pool.arch):
        return {}
    kernel = frozenset(kernel_names(before.kernel))
    # The packages of one set move together: releasing one of them releases all.
    together = frozenset(name for each in pool.equal if each.names & released for name in each.names)
    free = released | together | (kernel if KERNEL in released else frozenset())
    return {
        row.name: row.version
        for row in before.packages
        if row.name not in free and (ALL not in released or row.name in kernel)
    }


def is_os_source(name: str, sources: Iterable[LockedSource]) -> bool:
    """Whether a source is the OS's own archive, whose old versions go away with every update."""
    return is_os_name(name) or any(source.name == name and not source.on_host for source in sources)


def _pinned(answer: Resolution, requested: Collection[str], inputs: LockInputs) -> list[Stanza]:
    """Requested packages, the driver's whole set, and all from other sources than the OS's archive; or everything."""
    if inputs.pin == "closure":
        return list(answer.chosen)
    # The archive's driver too moves as a whole or not at all (report case A02).
    drivers = {head.upstream for head in answer.heads if head.equal.driver}
    return [
        stanza
        for stanza in answer.chosen
        if stanza.name in requested
        or upstream(stanza.version) in drivers
        or not is_os_source(stanza.row.source, inputs.sources)
    ]


def _bounds(chosen: Sequence[Stanza], pinned: Sequence[Stanza]) -> tuple[Bound, ...]:
    """What pinned packages need of packages that are not pinned."""
    pins = {stanza.name for stanza in pinned}
    by_name = {stanza.name: stanza for stanza in chosen}
    found: set[Bound] = set()
    for stanza in pinned:
        for group in stanza.needs:
            for relation in group:
                answer = by_name.get(relation.name)
                if answer is not None and answer.satisfies(relation):
                    if answer.name not in pins:
                        bound = Bound(
                            name=answer.name,
                            relation=relation.relation,
                            version=relation.version,
                            needed_by=stanza.name,
                        )
                        found.add(bound)
                    break
                provider = next((s for s in chosen if s.satisfies(relation)), None)
                if provider is not None:
                    if provider.name not in pins:
                        found.add(Bound(name=provider.name, relation="", version="", needed_by=stanza.name))
                    break
    return tuple(sorted(found))
