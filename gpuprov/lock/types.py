"""The lock as a value: what it was made from, and every exact package for every pool."""

from collections.abc import Mapping
from dataclasses import dataclass

from gpuprov.lock.pool_input import FrameworkNeed, Request
from gpuprov.model.package import Bound, PackageRow


@dataclass(frozen=True, kw_only=True, slots=True)
class LockedSource:
    """A source as it was when the lock was made; it holds no credentials."""

    name: str
    url: str
    """Empty for the OS archive as the host has it, like components and fingerprints."""
    suite: str
    """Suite, or the path of a flat repository (ending in `/`)."""
    components: tuple[str, ...]
    fingerprints: tuple[str, ...]
    """Upper-case hex fingerprints of the keys that may sign it."""
    on_host: bool
    """Whether gpuprov writes this source on the hosts (False for the OS archive as the host has it)."""
    key_text: str = ""
    """Armoured public keys, for sources that gpuprov writes."""
    keyring: str = ""
    """Path on the hosts of the OS's own keyring that holds the keys; empty where gpuprov writes the key itself."""
    priority: int | None = None
    """apt's pin priority, where the spec gives one."""
    selector: str = ""
    """What names it in a pin, where it has a priority: `o=NVIDIA,l=NVIDIA CUDA`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LockedWheel:
    """One file that holds a Python package."""

    filename: str
    sha256: str
    size: int
    """Bytes; 0 where the index does not tell."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LockedFramework:
    """One Python package at one version, with every file of it that fits the hosts."""

    name: str
    version: str
    source: str
    """Name of the index it comes from."""
    wheels: tuple[LockedWheel, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LockedFrameworks:
    """The Python packages of one pool: what was asked for, and everything that answers it."""

    need: FrameworkNeed
    packages: tuple[LockedFramework, ...]
    """Sorted by name; what the requested ones need is among them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LockedPool:
    """What one pool asked for, and the rows that answer it."""

    pool: str
    os: str
    arch: str
    requests: tuple[Request, ...]
    packages: tuple[PackageRow, ...]
    """Every pinned package, sorted by name."""
    bounds: tuple[Bound, ...]
    """Lower bounds on packages of the OS archive that are not pinned."""
    driver: str
    """Upstream version of the driver, `580.95.05`; empty when the pool locks no driver."""
    frameworks: LockedFrameworks | None = None
    """None when the pool asks for no frameworks."""
    kernel: str = ""
    """Release of the kernel that the hosts run, `6.1.0-37-amd64`; empty where the OS decides."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class LockedImage:
    """The machine image of an operating system, by its id, in one region."""

    os: str
    arch: str
    region: str
    owner: str
    """Account id of the publisher."""
    name: str
    """The image's name, for people."""
    id: str
    """`ami-...`."""
    origin: str = ""
    """Where the spec has it from, in words; empty for the OS vendor's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lock:
    """The whole lock."""

    spec_inputs: str
    """Digest over the part of the spec that the lock depends on."""
    catalog_inputs: Mapping[str, str]
    """What the lock used of the catalog: for each row, as `systems.debian-12`, its fields in words."""
    sources: tuple[LockedSource, ...]
    pools: Mapping[str, LockedPool]
    digest: str
    images: tuple[LockedImage, ...] = ()
    """Base images of the cloud pools, by OS and architecture; empty without a cloud target."""
