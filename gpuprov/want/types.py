"""The want of a pool and of a host, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpuprov.model.facet import Cost
from gpuprov.model.fact import Observation


class Merge(StrEnum):
    """How a wanted file meets the file that is there."""

    REPLACE = "replace"
    """Our text is the whole file."""
    JSON = "json"
    """Our keys are merged into the JSON object that is there; foreign keys stay."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageWant:
    """One owned package at one version."""

    name: str
    version: str
    arch: str
    source: str
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceWant:
    """One apt source that gpuprov writes on the host."""

    name: str
    path: str
    """`/etc/apt/sources.list.d/gpuprov-<name>.sources`."""
    text: str
    key_path: str
    """`/etc/apt/keyrings/gpuprov-<name>.asc`; empty where the source is signed by the OS's own keyring."""
    key_text: str

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        """Path and text of what is written: the key, unless the OS brings it, and the entry."""
        key = ((self.key_path, self.key_text),) if self.key_path else ()
        return (*key, (self.path, self.text))


@dataclass(frozen=True, kw_only=True, slots=True)
class FileWant:
    """One file: its text, who may read it, and what restarts when it changes."""

    path: str
    text: str
    mode: str = "0644"
    owner: str = "root"
    group: str = "root"
    merge: Merge = Merge.REPLACE
    validate: str = ""
    """A command with `%s` for the new file's path, run before it replaces the old one; empty for none."""
    restarts: tuple[str, ...] = ()
    """Units that restart when the file changes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceWant:
    """One systemd unit that must be enabled and active."""

    name: str
    """Without `.service`."""
    active: bool = True
    enabled: bool = True
    packages: tuple[str, ...] = ()
    """Packages whose change restarts the unit."""
    gpu: bool = False
    """Whether the unit needs the loaded driver, so that it cannot start before it."""
    exporter: str = ""
    """Name of the exporter that the unit serves; empty for none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DriverWant:
    """What the kernel must have loaded; None in a PoolWant means: nothing to load (a pool without GPUs)."""

    version: str
    """Upstream version, `580.95.05`."""
    modules: str
    """`open` or `proprietary`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuWant:
    """The GPUs a host of the pool must have; gpuprov cannot make them, only find them missing."""

    count: int
    nvml_names: tuple[str, ...]
    """Names that NVML may give the model (the catalog's); the observed models must all be among them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolWant:
    """What every host of a pool must be; it holds no host's own value."""

    pool: str
    target: str
    os: str
    arch: str
    packages: tuple[PackageWant, ...]
    sources: tuple[SourceWant, ...]
    files: tuple[FileWant, ...]
    services: tuple[ServiceWant, ...]
    exporters: tuple[str, ...]
    driver: DriverWant | None
    on_disk: str
    """Driver version that must be on disk (upstream), also where nothing is loaded; empty when no driver is locked."""
    gpu: GpuWant | None
    verify: tuple[str, ...]
    digest: str
    """sha256 over everything above."""
    hand_back: bool = False
    """The empty want of a host that is handed back: packages stay, holds are released, our files and sources go."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostWant:
    """A PoolWant with one host's own values."""

    host: str
    pool: PoolWant
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Owned:
    """What gpuprov's own marked record on a host says that it made there."""

    packages: Mapping[str, str] = field(default_factory=dict)
    """Name -> version installed."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Path -> sha256 of what was written."""
    sources: tuple[str, ...] = ()
    want: str = ""
    """Digest of the want of the last complete run."""
    brought: tuple[str, ...] | None = None
    """Packages that were not there before gpuprov installed them, the only ones that are ever removed.

    None when the record does not say: on a host that had everything before gpuprov came, nothing is known to be ours.
    """
    kept: tuple[str, ...] = ()
    """Paths of which the host keeps what was there before gpuprov; it comes back when our file goes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Expectation:
    """What is expected at one address, and what changing it would cost on this host."""

    address: str
    value: Observation
    """Known(value) or Absent."""
    comparator: str
    """Usually the facet's own."""
    cost: Cost
    curable: bool = True
    reason: str = ""
    """Where the expectation comes from, such as `lock: nvidia-fabricmanager=580.95.05-1`."""
