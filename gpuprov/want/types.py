"""The want of a pool and of a host, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpuprov.model.facet import Cost
from gpuprov.model.fact import Observation
from gpuprov.want.frameworks import FrameworksWant
from gpuprov.want.mounts import MountWant


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
    needed: bool = False
    """Whether the spec does not ask for it by itself, or a host may not lose it: it is never removed, only released."""


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
class UserWant:
    """One account of a person that must be there and open."""

    name: str
    uid: int | None = None
    """Number that it is made with; None: the next free one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupWant:
    """One group that must be there, with at least these members."""

    name: str
    members: tuple[str, ...] = ()
    gid: int | None = None
    """Number that it is made with; None: the next free one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessWant:
    """Who may use a host; keys and rules of sudo are among the want's files."""

    users: tuple[UserWant, ...] = ()
    groups: tuple[GroupWant, ...] = ()
    keys: bool = False
    """Whether sshd must look for keys in gpuprov's place besides its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TuningWant:
    """How a host is tuned; what holds it over a boot is among the want's files and services."""

    settings: Mapping[str, str] = field(default_factory=dict)
    """Kernel settings with dots -> value, with single blanks."""
    limits: Mapping[str, str] = field(default_factory=dict)
    """Item of limits.conf(5) -> value, soft and hard."""
    governor: str = ""
    power_limit: int | None = None
    """Watts."""
    clocks: int | None = None
    """MHz."""


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
    kernel: str = ""
    """Release of the kernel that the next boot must take; empty where the OS decides."""
    kernel_runs: bool = True
    """Whether it must run as well; not on a host that an image is made of."""
    hand_back: bool = False
    """The empty want of a host that is handed back: packages stay, holds are released, our files and sources go."""
    access: AccessWant = field(default_factory=AccessWant)
    tuning: TuningWant = field(default_factory=TuningWant)
    frameworks: FrameworksWant | None = None
    containerd: bool = False
    """Whether containerd is the engine and must have NVIDIA's runtime."""
    mounts: tuple[MountWant, ...] = ()
    """Disks, by place."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostWant:
    """A PoolWant with one host's own values."""

    host: str
    pool: PoolWant
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MergedKeys:
    """What gpuprov put into a file that is not its own."""

    ours: str
    """A JSON object: our keys, with our values."""
    before: str
    """A JSON object: what ours replaced; it comes back when ours goes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnedAccess:
    """What gpuprov made of a host's accounts."""

    users: tuple[str, ...] = ()
    """Accounts that were not there before gpuprov made them: only these are ever locked."""
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Group -> members that gpuprov put into it."""
    ssh: bool = False
    """Whether gpuprov told sshd of its place for keys."""


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
    merged: Mapping[str, MergedKeys] = field(default_factory=dict)
    """Path -> what gpuprov put into a file that is not its own."""
    pending: tuple[str, ...] = ()
    """Steps that a lost run left undone: `initramfs`."""
    frameworks: str = ""
    """Name of the Python environment that was brought; empty for none."""
    containerd: bool = False
    """Whether containerd was given NVIDIA's runtime."""
    access: OwnedAccess = field(default_factory=OwnedAccess)
    settings: Mapping[str, str] = field(default_factory=dict)
    """Kernel setting that gpuprov changed -> its value before; it comes back when ours goes."""
    rights: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Place of a mount -> entries that gpuprov gave there."""
    archived: int = 0
    """Bytes of the package archives that the host keeps for a rollback."""


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
