"""Whether a lock is still true: named reasons, each with both sides."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gpuprov.lock.candidates import Candidates
from gpuprov.lock.images import ImageNeed, images_by_need
from gpuprov.lock.index import Index
from gpuprov.lock.kernel import KERNEL, offered_release
from gpuprov.lock.make import recorded_requests
from gpuprov.lock.pool_input import FrameworkNeed, FrameworkRequest, PoolInput, Request
from gpuprov.lock.types import Lock, LockedFramework, LockedFrameworks, LockedPool, LockedSource
from gpuprov.model.package import PackageRow
from gpuprov.model.version import compare
from gpuprov.spec.stack import HOLD


class Stale(StrEnum):
    """In what way a lock is no longer true."""

    SPEC = "the spec changed"
    CATALOG = "the catalog changed"
    SOURCE = "a source changed"
    WITHDRAWN = "a package was withdrawn"
    """The source no longer offers the pinned version."""
    CHANGED = "a package changed"
    """The source offers the pinned version with another content."""
    IMAGE = "a base image was withdrawn"
    """Hosts can no longer be started from the locked image."""
    FORMAT = "the lock has another form"
    """Another release of gpuprov wrote it."""
    EDITED = "the lock was changed by hand"
    """Its digest does not fit its content."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StaleReason:
    """One reason, with what the lock says and what is."""

    kind: Stale
    address: str
    locked: str
    found: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Newer:
    """A requested package of which a newer version is offered and allowed: no reason against the lock."""

    pool: str
    name: str
    locked: str
    offered: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The lock is fresh when there is no reason against it."""

    reasons: tuple[StaleReason, ...]
    newer: tuple[Newer, ...] = ()
    """What `lock --upgrade` could move; only where the sources were looked at."""

    @property
    def fresh(self) -> bool:
        """Whether the lock is still true."""
        return not self.reasons


def judge(
    lock: Lock,
    *,
    spec_inputs: str,
    catalog_inputs: Mapping[str, str],
    sources: Sequence[LockedSource],
    pools: Sequence[PoolInput],
    images: Sequence[ImageNeed],
    indexes: Mapping[tuple[str, str], Index] | None,
) -> Verdict:
    """Compare a lock with what it was made from.

    Args:
        lock: as it was read.
        spec_inputs: digest of the present spec, from `make.spec_inputs`.
        catalog_inputs: what the spec uses of the present catalog, from `requests.catalog_inputs`.
        sources: as the spec and the catalog define them now.
        pools: what the pools ask for now.
        images: the base images that the cloud pools need now, from `images.image_needs`.
        indexes: for each OS and architecture; None when sources are not looked at (offline).
    """
    # Another spec uses other rows: then only a row that both use says something of the catalog.
    of_catalog = _catalog_reasons(lock.catalog_inputs, catalog_inputs, only_common=lock.spec_inputs != spec_inputs)
    return Verdict(
        reasons=(
            *_spec_reasons(lock, spec_inputs, pools),
            *_image_reasons(lock, images),
            *of_catalog,
            *_source_reasons(lock, sources),
            *(_row_reasons(lock, indexes) if indexes is not None else ()),
        ),
        newer=(*_newer(lock, indexes), *_newer_kernels(lock, pools, indexes)) if indexes is not None else (),
    )


def _spec_reasons(lock: Lock, spec_inputs: str, pools: Sequence[PoolInput]) -> list[StaleReason]:
    # The same spec asks for something else: then the catalog says otherwise what its words mean.
    asking = Stale.SPEC if lock.spec_inputs != spec_inputs else Stale.CATALOG
    found = [reason for pool in pools for reason in _pool_reasons(lock.pools.get(pool.pool), pool, asking)]
    now = {pool.pool for pool in pools}
    found += [
        StaleReason(kind=Stale.SPEC, address=f"pools.{name}", locked=f"the pool {name}", found="no such pool")
        for name in sorted(lock.pools)
        if name not in now
    ]
    if not found and lock.spec_inputs != spec_inputs:
        found.append(StaleReason(kind=Stale.SPEC, address="spec", locked=lock.spec_inputs, found=spec_inputs))
    return found


def _pool_reasons(before: LockedPool | None, now: PoolInput, asking: Stale) -> Iterator[StaleReason]:
    address = f"pools.{now.pool}"
    if before is None:
        yield StaleReason(kind=Stale.SPEC, address=address, locked="no such pool", found=f"the pool {now.pool}")
        return
    if (before.os, before.arch) != (now.os, now.arch):
        sides = (f"{before.os} {before.arch}", f"{now.os} {now.arch}")
        yield StaleReason(kind=Stale.SPEC, address=address, locked=sides[0], found=sides[1])
    old, new = _by_key(before.requests), _by_key(recorded_requests(now.requests))
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            yield StaleReason(
                kind=asking, address=f"{address}: {key[1]}", locked=_asked(old.get(key)), found=_asked(new.get(key))
            )

    yield from _kernel_reasons(before, now, address)
    yield from _framework_reasons(before.frameworks.need if before.frameworks else None, now.frameworks, address)


def _kernel_reasons(before: LockedPool, now: PoolInput, address: str) -> Iterator[StaleReason]:
    """`hold` asks for a kernel, whichever is locked."""
    asked = "" if now.kernel is None else now.kernel.release or before.kernel or HOLD
    if asked != before.kernel:
        sides = [release or "no kernel" for release in (before.kernel, asked)]
        yield StaleReason(kind=Stale.SPEC, address=f"{address}: stack.kernel", locked=sides[0], found=sides[1])


def _framework_reasons(before: FrameworkNeed | None, now: FrameworkNeed | None, address: str) -> Iterator[StaleReason]:
    old, new = _framework_sides(before), _framework_sides(now)
    for leaf in sorted(old.keys() | new.keys()):
        if old.get(leaf) != new.get(leaf):
            yield StaleReason(
                kind=Stale.SPEC,
                address=f"{address}: {leaf}",
                locked=old.get(leaf, "no such request"),
                found=new.get(leaf, "no such request"),
            )


def _framework_sides(need: FrameworkNeed | None) -> dict[str, str]:
    """What a need consists of, as the two sides of a reason show it."""
    if need is None:
        return {}
    hosts = {"frameworks": f"Python {need.python} on {need.platform}"}
    indexes = {f"sources.{name}": url for name, url in need.indexes.items()}
    return hosts | indexes | {f"frameworks.{request.name}": _asked_framework(request) for request in need.requests}


def _asked_framework(request: FrameworkRequest) -> str:
    return f"{request.name}{request.specifier or ' (any version)'} from {request.source}"


def _by_key(requests: Sequence[Request]) -> dict[tuple[str, str], Request]:
    return {(request.name, request.address): request for request in requests}


def _asked(request: Request | None) -> str:
    if request is None:
        return "no such request"
    source = f" from {request.source}" if request.source else ""
    return f"{request.name} {request.constraint or '(any version)'}{source}"


def _image_reasons(lock: Lock, needs: Sequence[ImageNeed]) -> Iterator[StaleReason]:
    """A need without an image, and an image that nobody needs; whether an image is still published needs an account."""
    locked = images_by_need(lock.images)
    for need in sorted({*needs, *locked}):
        there = locked.get(need)
        if (there is None) == (need in needs):
            yield StaleReason(
                kind=Stale.SPEC,
                address=f"images.{need.os}",
                locked=f"{there.id} for {need}" if there else "no such base image",
                found="no cloud pool that asks for it" if there else f"a cloud pool that asks for {need}",
            )


def _catalog_reasons(before: Mapping[str, str], now: Mapping[str, str], *, only_common: bool) -> Iterator[StaleReason]:
    names = before.keys() & now.keys() if only_common else before.keys() | now.keys()
    for name in sorted(names):
        if before.get(name) != now.get(name):
            sides = (before.get(name, "a row that was not used"), now.get(name, "a row that is no longer used"))
            yield StaleReason(kind=Stale.CATALOG, address=f"catalog.{name}", locked=sides[0], found=sides[1])


def _source_reasons(lock: Lock, sources: Sequence[LockedSource]) -> Iterator[StaleReason]:
    old = {s.name: s for s in lock.sources}
    # A suite of the OS archive that no pinned row comes from has no say; the lock does not record it.
    new = {s.name: s for s in sources if s.on_host or s.name in old}
    for name in sorted(old.keys() | new.keys()):
        before, now = old.get(name), new.get(name)
        if before is None or now is None:
            there = "the source"
            yield StaleReason(
                kind=Stale.SOURCE,
                address=f"sources.{name}",
                locked=there if before else "no such source",
                found=there if now else "no such source",
            )
            continue
        for leaf in ("url", "suite", "components", "fingerprints", "on_host", "priority", "selector"):
            sides = [getattr(source, leaf) for source in (before, now)]
            if sides[0] != sides[1]:
                locked, found = (", ".join(s) if isinstance(s, tuple) else "" if s is None else str(s) for s in sides)
                address = f"sources.{name}.{leaf}"
                yield StaleReason(kind=Stale.SOURCE, address=address, locked=locked or "none", found=found or "none")


def _row_reasons(lock: Lock, indexes: Mapping[tuple[str, str], Index]) -> Iterator[StaleReason]:
    for name, pool in sorted(lock.pools.items()):
        index = indexes.get((pool.os, pool.arch))
        if index is None:
            continue  # the pool is gone or has another OS: a reason by itself
        for row in pool.packages:
            reason = _row_reason(f"pools.{name}: {row.name}", row, index)
            if reason is not None:
                yield reason


def framework_row_reasons(
    address: str, locked: LockedFrameworks, offered: Sequence[LockedFramework] | str
) -> Iterator[StaleReason]:
    """Compare a pool's locked Python packages with what the indexes offer of them now.

    Args:
        address: of the pool.
        locked: as the lock has them.
        offered: the same versions as they are offered, or why one of them is not.
    """
    if isinstance(offered, str):
        yield StaleReason(
            kind=Stale.WITHDRAWN, address=f"{address}: frameworks", locked="the locked versions", found=offered
        )
        return
    wheels = {package.name: {(w.filename, w.sha256) for w in package.wheels} for package in offered}
    for package in locked.packages:
        before = {(w.filename, w.sha256) for w in package.wheels}
        now = wheels.get(package.name, set())
        if not before <= now:
            gone = min(before - now)
            sides = [digest for filename, digest in sorted(now) if filename == gone[0]]
            yield StaleReason(
                kind=Stale.CHANGED if sides else Stale.WITHDRAWN,
                address=f"{address}: Python package {package.name}",
                locked=f"{gone[0]} with sha256 {gone[1]}",
                found=f"sha256 {sides[0]}" if sides else "no such file",
            )


def _newer(lock: Lock, indexes: Mapping[tuple[str, str], Index]) -> Iterator[Newer]:
    for name, pool in sorted(lock.pools.items()):
        index = indexes.get((pool.os, pool.arch))
        if index is None:
            continue
        candidates = Candidates(index=index, requests=pool.requests)
        rows = {row.name: row for row in pool.packages}
        for asked in dict.fromkeys(request.name for request in pool.requests):
            best, row = candidates.best(asked), rows.get(asked)
            if best is not None and row is not None and compare(best.version, row.version) > 0:
                yield Newer(pool=name, name=asked, locked=row.version, offered=best.version)


def _newer_kernels(lock: Lock, pools: Sequence[PoolInput], indexes: Mapping[tuple[str, str], Index]) -> Iterator[Newer]:
    """Kernels that `hold` holds back."""
    for pool in pools:
        locked, index = lock.pools.get(pool.pool), indexes.get((pool.os, pool.arch))
        if pool.kernel is None or pool.kernel.release or locked is None or index is None or not locked.kernel:
            continue
        offered = offered_release(pool.kernel, index)
        if offered and compare(offered, locked.kernel) > 0:
            yield Newer(pool=pool.pool, name=KERNEL, locked=locked.kernel, offered=offered)


def _row_reason(address: str, row: PackageRow, index: Index) -> StaleReason | None:
    same_source = [s.row for s in index.stanzas(row.name) if s.row.source == row.source]
    offered = [other for other in same_source if other.version == row.version]
    if any(other.sha256 == row.sha256 for other in offered):
        return None
    if offered:
        sides = (f"{row.version} with sha256 {row.sha256}", f"{row.version} with sha256 {offered[0].sha256}")
        return StaleReason(kind=Stale.CHANGED, address=address, locked=sides[0], found=sides[1])
    versions = ", ".join(sorted(other.version for other in same_source)) or "nothing"
    return StaleReason(
        kind=Stale.WITHDRAWN, address=address, locked=f"{row.version} from {row.source}", found=f"{versions} there"
    )
