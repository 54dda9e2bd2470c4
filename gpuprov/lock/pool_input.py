"""What one pool asks the resolver for: the value between a spec and a lock."""

from dataclasses import dataclass

from gpuprov.lock.types import FrameworkNeed, Request


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
