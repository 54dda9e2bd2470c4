"""Python frameworks of a pool: what is asked for, and what of an earlier lock a new one keeps."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from gpuprov.catalog.find import system
from gpuprov.lock.pool_input import FrameworkNeed, FrameworkRequest
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.spec.types import PoolSpec, Spec

if TYPE_CHECKING:
    from gpuprov.lock.types import Lock, LockedFrameworks

PYTHON_SOURCE: Final = "python"
"""Type of a spec's source that is an index of Python packages."""

_MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_NEWEST_GLIBC: Final = (2, 40)
"""The newest C library that uv 0.9 to 0.13 has a platform for; wheels for older ones run on newer ones."""


def framework_need(spec: Spec, pool: PoolSpec, arch: str) -> FrameworkNeed | None:
    """The Python packages that a pool asks for; None when it asks for none.

    Args:
        spec: names the indexes.
        pool: names the packages.
        arch: `amd64` or `arm64`.

    Raises:
        GpuprovError: GP-CAT-002 when the catalog does not know the Python or the C library of the pool's OS.
    """
    asked = {name: framework for name, framework in pool.stack.frameworks.items() if framework is not None}
    if not asked:
        return None
    row = system(pool.os, spec.catalog)
    if row is None or row.python is None or row.glibc is None:
        raise GpuprovError(_unknown_python(pool))
    urls = {name: source.url for name, source in spec.sources.items() if source.type == PYTHON_SOURCE}
    used = {framework.source for framework in asked.values()} | {"pypi"}
    return FrameworkNeed(
        python=row.python,
        platform=_platform(row.glibc, arch),
        requests=tuple(
            FrameworkRequest(name=name, specifier=_specifier(framework.version), source=framework.source)
            for name, framework in sorted(asked.items())
        ),
        indexes={name: urls[name] for name in sorted(urls) if name in used},
    )


def kept_frameworks(
    previous: "Lock | None", needs: Mapping[str, FrameworkNeed], upgrade: Collection[str]
) -> "Mapping[str, LockedFrameworks]":
    """The pools whose Python packages stay as an earlier lock has them, so that no index needs to be asked.

    Args:
        previous: the earlier lock.
        needs: by pool, what is needed now.
        upgrade: names that may move; `*` for all.
    """
    found = {}
    for pool, need in needs.items():
        before = _before(previous, pool)
        if before is not None and before.need == need and not any(_released(p.name, upgrade) for p in before.packages):
            found[pool] = before
    return found


def preferred_versions(previous: "Lock | None", pool: str, upgrade: Collection[str]) -> Mapping[str, str]:
    """The versions of an earlier lock that a new one prefers, by package."""
    before = _before(previous, pool)
    packages = before.packages if before is not None else ()
    return {package.name: package.version for package in packages if not _released(package.name, upgrade)}


def _before(previous: "Lock | None", pool: str) -> "LockedFrameworks | None":
    locked = previous.pools.get(pool) if previous is not None else None
    return locked.frameworks if locked is not None else None


def _released(name: str, upgrade: Collection[str]) -> bool:
    return "*" in upgrade or name in upgrade


def _specifier(version: str) -> str:
    """A spec's version as PEP 440 writes it: a bare version or prefix means exactly that."""
    parts = [part.replace(" ", "") for part in version.split(",") if part.strip() != "*"]
    return ",".join(part if part[0] in "=!~<>" else f"=={part}" for part in parts)


def _platform(glibc: str, arch: str) -> str:
    major, minor = min(tuple(int(part) for part in glibc.split(".")), _NEWEST_GLIBC)
    return f"{_MACHINES[arch]}-manylinux_{major}_{minor}"


def _unknown_python(pool: PoolSpec) -> Diagnostic:
    return Diagnostic(
        code="GP-CAT-002",
        address=f"pools.{pool.name}.os",
        summary=f"the catalog does not know which Python and C library {pool.os} has",
        detail="Frameworks are locked for the hosts' own Python.",
        hint="take `frameworks` out of the pool's stack, or use another OS",
    )
