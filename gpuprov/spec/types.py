"""The spec, version 1, as values. The schema, the reference pages and `explain` are generated from these types."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuprov.model.diagnostic import Span
from gpuprov.model.finding import Waiver


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceSpec:
    """A package source besides the catalog's own, or in place of one."""

    type: str = "apt"
    url: str = ""
    """http, https or file URL of the repository's root."""
    suite: str = ""
    """Suite of the repository; empty with `flat`."""
    components: tuple[str, ...] = ()
    flat: bool = False
    """A repository without suites, such as NVIDIA's."""
    key: str = ""
    """Path of the armoured or binary public key, relative to the spec."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DriverSpec:
    """The NVIDIA driver."""

    version: str
    modules: str = "open"
    """open | proprietary."""
    source: str = "nvidia"
    """nvidia | os | a name from sources."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerSpec:
    """The container engine and NVIDIA's toolkit for it."""

    engine: str = "docker"
    toolkit: str = ""
    """Version constraint of nvidia-container-toolkit; empty for no toolkit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageSpec:
    """Any other package of the sources."""

    name: str
    version: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class StackSpec:
    """The software stack; None means: this part is not wanted."""

    driver: DriverSpec | None = None
    cuda: str | None = None
    """CUDA toolkit, `13.0`; None for no toolkit."""
    container: ContainerSpec | None = None
    fabric: str = "auto"
    """auto | none."""
    dcgm: str | None = None
    packages: tuple[PackageSpec, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuSpec:
    """The GPUs of a pool's hosts."""

    model: str
    """Name of a row of the catalog, such as H100-SXM5-80GB."""
    per_host: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolOnpremSpec:
    """Where the pool's hosts are in the inventory."""

    group: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RolloutSpec:
    """In what steps hosts are changed."""

    batch: str = "1"
    """Number of hosts at a time, or a percentage such as 25%."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolSpec:
    """Hosts that are equal by intention."""

    name: str
    os: str
    """After inheritance from the spec."""
    gpu: GpuSpec | None
    """None: a pool without GPUs (`gpu: none`)."""
    onprem: PoolOnpremSpec | None
    rollout: RolloutSpec
    stack: StackSpec
    """After the pool's overrides."""
    verify: tuple[str, ...] = ()
    """Commands that must succeed on the pool's hosts; a pool may override the spec's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSpec:
    """A file of the host that the spec gives in full."""

    path: str
    text: str
    mode: str = "0644"
    owner: str = "root"
    group: str = "root"


@dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """A whole spec, with defaults filled in and overrides applied."""

    path: str
    """The file it came from; relative paths of the spec are relative to its folder."""
    name: str
    os: str
    sources: Mapping[str, SourceSpec]
    stack: StackSpec
    pools: Mapping[str, PoolSpec]
    files: tuple[FileSpec, ...]
    exporters: tuple[str, ...]
    verify: tuple[str, ...]
    inventory: str | None
    """targets.onprem.inventory."""
    pin: str
    """lock.pin: owned | closure."""
    waivers: tuple[Waiver, ...]
    digest: str
    """sha256 over the canonical form of the decoded spec (comments and order of keys do not matter)."""
    spans: Mapping[str, Span] = field(default_factory=dict, compare=False)
    """Where each address stands in the file."""
