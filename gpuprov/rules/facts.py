"""What the rules look at: plain values of one pool, before or after its lock is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuprov.catalog.load import PACKAGED, Catalog


@dataclass(frozen=True, kw_only=True, slots=True)
class Addresses:
    """Where in the spec the values stand, for the answers."""

    driver: str = "stack.driver.version"
    modules: str = "stack.driver.modules"
    source: str = "stack.driver.source"
    cuda: str = "stack.cuda"
    dcgm: str = "stack.dcgm"
    fabric: str = "stack.fabric"
    toolkit: str = "stack.container.toolkit"
    frameworks: str = "stack.frameworks"
    packages: str = "stack.packages"
    kernel: str = "stack.kernel"
    os: str = "os"
    gpu: str = ""
    mig: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class FrameworkFacts:
    """One Python framework that a pool asks for, or has locked."""

    name: str
    """With its extras: jax[cuda13]."""
    version: str
    """Version, or the part of it that is known."""
    variant: str = ""
    """CUDA variant, such as cu130; empty: the default index's wheel."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolFacts:
    """One pool; an empty value means: not wanted, or not decided yet."""

    pool: str
    gpu_models: tuple[str, ...] = ()
    """Names of GPUs in the catalog; empty for a pool without GPUs."""
    driver: str = ""
    """Upstream version of the driver: the locked one, or the spec's where it names one version."""
    branches: tuple[int, ...] = ()
    """Driver branches that are possible, newest first; empty where no driver is wanted."""
    modules: str = ""
    """open | proprietary."""
    from_os: bool = False
    """Whether the driver comes from the OS archive."""
    source_url: str = ""
    """URL of the repository that the driver comes from; empty for the OS archive."""
    source_keys: tuple[str, ...] = ()
    """Fingerprints of the keys that may sign it; empty before the lock."""
    cuda: str = ""
    """Release of the CUDA toolkit, major.minor."""
    fabric: str = "auto"
    dcgm: str = ""
    """Version of DCGM, or the part of it that is known."""
    engine: str = ""
    """The container engine."""
    toolkit: str = ""
    """Version of the container toolkit, or the part of it that is known."""
    frameworks: tuple[FrameworkFacts, ...] = ()
    mig: tuple[str, ...] = ()
    """MIG profiles of each GPU."""
    packages: tuple[str, ...] = ()
    """Names of other packages that are asked for."""
    locked: Mapping[str, str] = field(default_factory=dict)
    """Locked packages: name to version; empty before the lock."""
    os: str = ""
    arch: str = ""
    """amd64 | arm64."""
    kernel: str = ""
    """Release of the kernel, where it is not the OS's general one."""
    catalog: Catalog = PACKAGED
    addresses: Addresses = field(default_factory=Addresses)


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceFacts:
    """An instance type, and what its instances must be."""

    type: str
    arch: str
    """Architecture that packages are locked for."""
    address: str
    """Where in the spec the type stands."""
    pool: str = ""
    """Empty for the builder of images."""
    gpu_model: str = ""
    """Name of a GPU in the catalog; empty for hosts without GPUs."""
    gpu_count: int = 0
    region: str = ""
    market: str = ""
    """on-demand | spot | capacity-block; empty for the builder of images, which is bought on demand."""
    efa: str = ""
    """Layout of the interfaces with EFA; empty for none."""
    close: bool = False
    """Whether new instances stand in a cluster placement group."""
    public: bool = False
    """Whether instances have public addresses."""
    catalog: Catalog = PACKAGED

    @property
    def who(self) -> str:
        """Whose instances they are, in words."""
        return f"the pool {self.pool}" if self.pool else "the builder of images"
