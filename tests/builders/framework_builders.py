"""Wants with Python frameworks, and hosts that have them."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from host_builders import edit, observation

from gpuprov.lock.pool_input import FrameworkNeed, FrameworkRequest
from gpuprov.lock.types import LockedFramework, LockedFrameworks, LockedWheel
from gpuprov.model.snapshot import Snapshot
from gpuprov.want.frameworks import FrameworksWant, frameworks_want
from gpuprov.want.types import HostWant

TORCH = {"torch": "2.9.1+cu130", "numpy": "2.3.5"}


def locked_frameworks(versions: Mapping[str, str] = TORCH, python: str = "3.11") -> LockedFrameworks:
    """The lock's part of a pool whose spec asks for torch from an index of its own."""
    need = FrameworkNeed(
        python=python,
        platform="x86_64-manylinux_2_36",
        requests=(FrameworkRequest(name="torch[opt]", specifier="==2.9.*", source="cu130"),),
        indexes={"cu130": "http://index.example/cu130"},
    )
    packages = tuple(
        LockedFramework(
            name=name,
            version=version,
            source="cu130" if name == "torch" else "pypi",
            wheels=tuple(_wheel(name, version, kind) for kind in ("x86_64", "any")),
        )
        for name, version in sorted(versions.items())
    )
    return LockedFrameworks(need=need, packages=packages)


def _wheel(name: str, version: str, kind: str) -> LockedWheel:
    filename = f"{name}-{version}-py3-none-{kind}.whl"
    return LockedWheel(filename=filename, sha256=hashlib.sha256(filename.encode()).hexdigest(), size=1)


def with_frameworks(want: HostWant, versions: Mapping[str, str] | None = TORCH) -> HostWant:
    """A host's want with frameworks, or without any."""
    locked = None if versions is None else locked_frameworks(versions)
    return replace(want, pool=replace(want.pool, frameworks=frameworks_want(locked)))


def has_frameworks(snapshot: Snapshot, want: FrameworksWant | None) -> Snapshot:
    """A host with the environment of a want in use, brought by gpuprov; with none, one that could be looked at."""
    facts: dict[str, Any] = {"stack.frameworks.environment": want.environment if want else None}
    if want is not None:
        owned = snapshot.facts["gpuprov.owned"].observation.value  # type: ignore[union-attr]
        facts["gpuprov.owned"] = {**owned, "frameworks": want.environment}  # type: ignore[dict-item]
        facts |= {f'framework["{p.name}"].version': p.version for p in want.packages}
    seen = edit(snapshot, {address: observation(value) for address, value in facts.items()})
    return replace(seen, families={**seen.families, "framework": observation(None)})
