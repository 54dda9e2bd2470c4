"""What one pool asks the resolver for: the value between a spec and a lock."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Request:
    """One package that the spec asks for, before it is resolved."""

    name: str
    constraint: str
    """Version constraint as text, such as `580.*`; empty for any."""
    source: str
    """Source the package must come from; empty for any."""
    address: str
    """Path of the spec that asks for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FrameworkRequest:
    """One Python package that the spec asks for, before it is resolved."""

    name: str
    """Normalised name, with extras: `jax[cuda13]`."""
    specifier: str
    """As PEP 440 writes it: `==2.9.*`; empty for any version."""
    source: str
    """`pypi`, or a source of the spec."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FrameworkNeed:
    """Python packages for one kind of host: what a set of them depends on, beside the indexes' content."""

    python: str
    """Release of the hosts' Python: `3.11`."""
    platform: str
    """As uv names it: `x86_64-manylinux_2_36`."""
    requests: tuple[FrameworkRequest, ...]
    """Sorted."""
    indexes: Mapping[str, str]
    """URL of every index that the spec names, by its name; without `pypi` the default index is the machine's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EqualSet:
    """Names whose packages must have one upstream version from one source."""

    label: str
    """What the set is called in messages, such as `driver`."""
    names: frozenset[str]
    driver: bool = False
    """Whether it is the driver's: then packages that are not listed but versioned with the driver belong to it too."""
    apart: frozenset[str] = frozenset()
    """Names that look like the set's, and whose versions are their own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KernelNeed:
    """What a pool asks of its kernel."""

    release: str
    """As the spec names it; empty for `hold`."""
    image: str
    """Metapackage whose kernel `hold` takes."""
    address: str
    """Field of the spec that asks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolInput:
    """What one pool asks for."""

    pool: str
    os: str
    arch: str
    requests: tuple[Request, ...]
    equal: tuple[EqualSet, ...] = ()
    """Packages that must have one version: the driver's set first."""
    frameworks: FrameworkNeed | None = None
    """The Python packages that it asks for."""
    kernel: KernelNeed | None = None
    """What it asks of its kernel; None where the OS decides."""
