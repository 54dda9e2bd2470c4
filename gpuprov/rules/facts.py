"""What the rules look at: plain values of one pool, before or after its lock is made."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Addresses:
    """Where in the spec the values stand, for the diagnostics."""

    driver: str = "stack.driver.version"
    modules: str = "stack.driver.modules"
    cuda: str = "stack.cuda"
    dcgm: str = "stack.dcgm"
    fabric: str = "stack.fabric"
    gpu: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolFacts:
    """One pool; an empty text means: not wanted, or not decided yet."""

    pool: str
    gpu_model: str = ""
    """Name of a GPU in the catalog; empty for a pool without GPUs."""
    driver: str = ""
    """Upstream version of the driver: the locked one, or the spec's where it names one version."""
    branches: tuple[int, ...] = ()
    """Driver branches that are possible, newest first; empty where no driver is wanted."""
    modules: str = ""
    """open | proprietary."""
    from_os: bool = False
    """Whether the driver comes from the OS archive."""
    cuda: str = ""
    """Release of the CUDA toolkit, major.minor."""
    fabric: str = "auto"
    dcgm: str = ""
    """Version of DCGM, or the part of it that is known."""
    addresses: Addresses = Addresses()


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

    @property
    def who(self) -> str:
        """Whose instances they are, in words."""
        return f"the pool {self.pool}" if self.pool else "the builder of images"
