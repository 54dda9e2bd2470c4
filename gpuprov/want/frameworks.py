"""Python frameworks: one environment of a host, with every package at its locked version and by its digests."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gpuprov.document.canonical import digest
from gpuprov.lock.types import LockedFrameworks
from gpuprov.model.address import member_address

ENVIRONMENT: Final = "stack.frameworks.environment"
"""The fact that names the environment in use."""
FAMILY: Final = "framework"
FOLDER: Final = "/opt/gpuprov/frameworks"
"""Where environments are; `current` in it leads to the one in use."""
_SHORT: Final = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class FrameworkWant:
    """One Python package of an environment."""

    name: str
    version: str
    source: str
    """`pypi`, or a name from `indexes`."""
    sha256: tuple[str, ...]
    """Of each file that may be taken."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FrameworksWant:
    """The environment that a host must have in use."""

    environment: str
    """Its name: a digest over the Python and the packages, so that another set is another environment."""
    python: str
    """Release of the host's Python: `3.11`."""
    requested: tuple[str, ...]
    """Names that the spec asks for; the others are what these need."""
    packages: tuple[FrameworkWant, ...]
    indexes: Mapping[str, str]
    """URL of each index that the spec names; without `pypi` the default index is the host's own."""


def frameworks_want(locked: LockedFrameworks | None) -> FrameworksWant | None:
    """What a pool's hosts must have; None where the lock holds no frameworks."""
    if locked is None:
        return None
    packages = tuple(
        FrameworkWant(
            name=package.name,
            version=package.version,
            source=package.source,
            sha256=tuple(sorted({wheel.sha256 for wheel in package.wheels})),
        )
        for package in locked.packages
    )
    content = [[package.name, package.version, *package.sha256] for package in packages]
    return FrameworksWant(
        environment=digest([locked.need.python, content]).removeprefix("sha256:")[:_SHORT],
        python=locked.need.python,
        requested=tuple(request.name.partition("[")[0] for request in locked.need.requests),
        packages=packages,
        indexes=dict(locked.need.indexes),
    )


def wanted_facts(want: FrameworksWant | None) -> Iterator[tuple[str, str]]:
    """Address and value of each fact that must hold."""
    if want is not None:
        yield ENVIRONMENT, want.environment
        for package in want.packages:
            yield member_address(FAMILY, package.name, "version"), package.version


def listing(versions: Mapping[str, str]) -> str:
    """Packages one a line, as people read them."""
    return "".join(f"{name} {version}\n" for name, version in sorted(versions.items()))
