"""What a lock would give, in the form of a snapshot: so that it is compared by the same table as what was seen."""

import re
from collections.abc import Mapping
from typing import Final

from gpuprov.lock.types import LockedPool
from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Fact, Known, Observation, Value
from gpuprov.model.snapshot import Snapshot
from gpuprov.model.version import upstream
from gpuprov.want.expectations import expectations
from gpuprov.want.host import host_want
from gpuprov.want.types import Owned, PoolWant

_FAMILIES: Final = ("package", "file", "service", "exporter")
# Which package tells the version of a part of the stack (names: the sources of catalog/data/packages.json).
_TELLERS: Final[Mapping[str, re.Pattern[str]]] = {
    "stack.container.toolkit": re.compile(r"nvidia-container-toolkit"),
    "stack.dcgm.version": re.compile(r"datacenter-gpu-manager(-4-core)?"),
    "stack.fabric.version": re.compile(r"nvidia-fabricmanager(-[0-9]+)?"),
}
_CUDA: Final = re.compile(r"cuda-toolkit-(?P<major>[0-9]+)-(?P<minor>[0-9]+)")
_CUDA_OF_OS: Final = "nvidia-cuda-toolkit"


def want_view(want: PoolWant, name: str) -> Snapshot:
    """A host of a pool as its want says: everything that is wanted is there, nothing else of the stack is.

    Args:
        want: the pool's, on one target.
        name: what the view is called.
    """
    expected = expectations(host_want(want, name), Owned())
    seen = {e.address: e.value for e in expected}
    return _view(name, seen | _told({package.name: package.version for package in want.packages}))


def locked_view(pool: LockedPool, name: str) -> Snapshot:
    """What a lock alone says of a pool: its packages and what they tell; files and services stand in the spec."""
    versions = {row.name: row.version for row in pool.packages}
    seen: dict[str, Observation] = {
        "host.os": Known(pool.os),
        "host.arch": Known(pool.arch),
        "stack.driver.on_disk": Known(pool.driver) if pool.driver else Absent(),
    }
    seen |= {member_address("package", package, "version"): Known(text) for package, text in versions.items()}
    return _view(name, seen | _told(versions))


def _view(name: str, seen: Mapping[str, Observation]) -> Snapshot:
    return Snapshot(
        host=name,
        taken="",
        facts={address: Fact(address=address, observation=value) for address, value in seen.items()},
        families=dict.fromkeys(_FAMILIES, Absent()),
    )


def _told(versions: Mapping[str, str]) -> dict[str, Observation]:
    """What the packages tell of the stack's parts."""
    told: dict[str, Observation] = {"stack.cuda.toolkits": Known(_releases(versions))}
    for address, pattern in _TELLERS.items():
        found = next((upstream(text) for name, text in sorted(versions.items()) if pattern.fullmatch(name)), None)
        told[address] = Absent() if found is None else Known(found)
    return told


def _releases(versions: Mapping[str, str]) -> list[Value]:
    found: list[Value] = [f"{name['major']}.{name['minor']}" for text in versions if (name := _CUDA.fullmatch(text))]
    if _CUDA_OF_OS in versions:
        found.append(".".join(upstream(versions[_CUDA_OF_OS]).split(".")[:2]))
    return found
