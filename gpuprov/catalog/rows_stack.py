"""The rows of the catalog about software that stands on the driver, one type a file of data/."""

from dataclasses import dataclass

from gpuprov.catalog.rows import Row


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class VariantRow(Row):
    """One CUDA variant of Python wheels, such as cu130; the wheel brings its own CUDA runtime."""

    cuda: str
    """Release of that runtime, major.minor."""
    min_driver: str | None
    branch: int | None
    """Driver branch that reports this CUDA or a newer one: nothing is limited from there on."""
    min_capability: str | None = None
    """Lowest compute capability that its programs run on; None: it sets no limit that is known."""
    new_capabilities: tuple[str, ...] = ()
    """Compute capabilities from 10.0 on that it is built for."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class FrameworkRow(Row):
    """One release of a Python framework."""

    project: str
    """Name of the Python package, with its extra where that decides: torch, tensorflow, jax[cuda13]."""
    version: str
    python_min: str | None
    python_max: str | None
    variants: tuple[str, ...]
    """CUDA variants that are published apart."""
    cuda: str | None
    """Release of CUDA that the default index's wheel brings, major.minor."""
    cudnn: str | None
    nccl: str | None
    min_driver: str | None
    """Lowest driver for the default index's wheel."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class NgcRow(Row):
    """One month of NVIDIA's container images for deep learning; its id is the month, such as 26.03."""

    cuda: str | None
    driver: str | None
    """The driver that goes with it; older branches work through the image's compatibility libraries."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ContainerToolkitRow(Row):
    """One release of NVIDIA's container toolkit."""

    date: str | None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class EngineRow(Row):
    """What a container engine must be for the CDI specs of the container toolkit."""

    toolkit: str
    """Constraint on the container toolkit."""
    min_version: str
    """Lowest version of the engine."""
    packages: tuple[str, ...]
    """Packages that carry the engine's version."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class CompanionRow(Row):
    """A package beside the driver."""

    patterns: tuple[str, ...]
    """Regular expressions over the whole name."""
    equal: bool
    """Whether its version is exactly the driver's."""
    fabrics: tuple[str, ...]
    """Fabrics of GPUs (gpus.json) that need it on the host; empty: none needs it."""
    service: str = ""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class LibraryRow(Row):
    """A library of NVIDIA's that programs link to."""

    packages: tuple[str, ...]
    newest: tuple[str, ...]
    """Newest versions that were seen, with the CUDA major they are for."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class XidRow(Row):
    """One error code that the driver writes to the kernel's log; its id is the code."""

    meaning: str
    action: str | None
    """NVIDIA's immediate action, such as RESET_GPU."""
    then: str
    """What follows when that does not help; empty where nothing is said."""
    severity: str
    """app | config | gpu | hardware | info | link | node | rma_candidate | vm | warn."""
