"""The Python packages of a lock: kept from the lock before, or resolved through uv."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from gpuprov.lock.frameworks import kept_frameworks, preferred_versions
from gpuprov.lock.pool_input import FrameworkNeed, PoolInput
from gpuprov.lock.types import Lock, LockedFramework, LockedFrameworks
from gpuprov.lock.verdict import StaleReason, framework_row_reasons
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Report
from gpuprov.sources.python_requirements import Uv, offered_wheels, resolve_frameworks
from gpuprov.store.cache import cache_folder

Resolve = Callable[[FrameworkNeed, Mapping[str, str], Uv], tuple[LockedFramework, ...]]
"""Chooses versions for a need, with the versions that should stay."""


def locked_frameworks(
    pools: Sequence[PoolInput],
    previous: Lock | None,
    *,
    upgrade: frozenset[str],
    report: Report,
    resolve: Resolve = resolve_frameworks,
) -> Mapping[str, LockedFrameworks]:
    """The Python packages of every pool that asks for some; no index is asked for what the lock before has.

    Args:
        pools: what they ask for.
        previous: the lock before, whose versions stay where they are offered and allowed.
        upgrade: names that may move; `*` for all.
        report: where progress goes.
        resolve: asks the indexes.

    Raises:
        GpuprovError: of all pools together: GP-LOCK-008, GP-SRC-001, GP-SRC-008.
    """
    needs = {pool.pool: pool.frameworks for pool in pools if pool.frameworks is not None}
    found = dict(kept_frameworks(previous, needs, upgrade))
    wrong: list[Diagnostic] = []
    for pool, need in needs.items():
        if pool not in found:
            try:
                prefer = preferred_versions(previous, pool, upgrade)
                found[pool] = _same(need, prefer, found.values()) or LockedFrameworks(
                    need=need, packages=resolve(need, prefer, _uv(report))
                )
            except GpuprovError as error:
                wrong += [d for d in error.diagnostics if d not in wrong]
    if wrong:
        raise GpuprovError(*wrong)
    return found


def _same(need: FrameworkNeed, prefer: Mapping[str, str], found: Iterable[LockedFrameworks]) -> LockedFrameworks | None:
    """The answer of another pool that asks for the same and keeps the same: one run gives one answer to both."""
    for other in found:
        versions = {package.name: package.version for package in other.packages}
        if other.need == need and prefer.items() <= versions.items():
            return other
    return None


def withdrawn_frameworks(lock: Lock, report: Report) -> tuple[StaleReason, ...]:
    """What the indexes no longer offer of the Python packages of a lock, or offer with other content.

    Raises:
        GpuprovError: GP-SRC-001 or GP-SRC-008 when they cannot be looked at.
    """
    reasons: list[StaleReason] = []
    asked: list[LockedFrameworks] = []
    for name, pool in sorted(lock.pools.items()):
        locked = pool.frameworks
        if locked is not None and locked not in asked:
            asked.append(locked)
            offered = offered_wheels(locked.need, locked.packages, _uv(report))
            reasons += framework_row_reasons(f"pools.{name}", locked, offered)
    return tuple(reasons)


def _uv(report: Report) -> Uv:
    return Uv(cache=cache_folder() / "python", report=report)
