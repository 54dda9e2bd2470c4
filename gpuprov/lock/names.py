"""The names that `lock --upgrade` may let move."""

import difflib
from collections.abc import Collection

from gpuprov.lock.images import IMAGE
from gpuprov.lock.kernel import KERNEL
from gpuprov.lock.make import ALL
from gpuprov.lock.types import Lock
from gpuprov.model.diagnostic import Diagnostic


def unknown_names(upgrade: Collection[str], before: Lock | None, after: Lock) -> tuple[Diagnostic, ...]:
    """GP-LOCK-009 for every name that neither lock holds: a misspelt name must not look like `nothing newer`."""
    known = _names(after) | (_names(before) if before is not None else frozenset())
    return tuple(_unknown(name, known) for name in sorted(set(upgrade) - known - {ALL}))


def _names(lock: Lock) -> frozenset[str]:
    packages = {row.name for pool in lock.pools.values() for row in pool.packages}
    python = {row.name for pool in lock.pools.values() if pool.frameworks for row in pool.frameworks.packages}
    kernel = {KERNEL for pool in lock.pools.values() if pool.kernel}
    images = {name for image in lock.images for name in (IMAGE, image.os)}
    return frozenset(packages | python | kernel | images)


def _unknown(name: str, known: Collection[str]) -> Diagnostic:
    near = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.7)
    hint = f"Did you mean {' or '.join(near)}?" if near else "The names are those of the lock's packages and systems."
    return Diagnostic(
        code="GP-LOCK-009",
        address=name,
        summary=f"the lock holds nothing that is called {name}",
        detail="`--upgrade` takes the name of a locked package, `kernel`, `image`, or an operating system for its"
        " base image.",
        hint=hint,
    )
