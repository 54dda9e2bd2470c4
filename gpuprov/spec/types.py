"""The spec, version 1, as values. The schema, the reference pages and `explain` are generated from these types."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from gpuprov.catalog.load import PACKAGED, Catalog
from gpuprov.model.diagnostic import Span
from gpuprov.model.waiver import Waiver
from gpuprov.spec.about import About
from gpuprov.spec.access import AccessSpec
from gpuprov.spec.rollout import RolloutSpec
from gpuprov.spec.sizes import size_in_gib
from gpuprov.spec.tuning import TuningSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceSpec:
    """A package source besides the catalog's own, or in place of one."""

    type: Annotated[
        str,
        About(
            "Kind of the source; `python` is an index of Python packages, such as a CUDA variant's, of which only "
            "`url` is written.",
            choices=("apt", "python"),
            later=("dnf",),
        ),
    ] = "apt"
    url: Annotated[
        str,
        About(
            "http, https or file URL of the repository's root, or of the index; it holds no user and no password.",
            check="url",
            example='"https://mirror.example/apt"',
        ),
    ] = ""
    suite: Annotated[str, About("Suite of the repository; not with `flat`.", check="word", example="stable")] = ""
    components: Annotated[
        tuple[str, ...], About("Components of the suite; not with `flat`.", check="word", example="[main]")
    ] = ()
    flat: Annotated[bool, About("Whether the repository has no suites, such as NVIDIA's.")] = False
    key: Annotated[
        str,
        About(
            "Path of the armoured or binary public key, relative to the spec.",
            check="file",
            example="keys/site.asc",
        ),
    ] = ""
    systems: Annotated[
        tuple[str, ...],
        About(
            "Operating systems whose hosts take packages from it; all when left out.",
            check="word",
            example="[debian-12]",
        ),
    ] = ()
    architectures: Annotated[
        tuple[str, ...],
        About(
            "Architectures whose hosts take packages from it; all when left out.",
            choices=("amd64", "arm64"),
            example="[arm64]",
        ),
    ] = ()
    priority: Annotated[
        int | None,
        About(
            "apt's pin priority of the source, in the lock and on the hosts; what its Release asks for when left out: "
            "500, or 100 for backports.",
            maximum=1000,
            example="100",
        ),
    ] = None

    def serves(self, os: str, arch: str) -> bool:
        """Whether hosts of an operating system and an architecture take packages from it."""
        return (not self.systems or os in self.systems) and (not self.architectures or arch in self.architectures)


@dataclass(frozen=True, kw_only=True, slots=True)
class DriverSpec:
    """The NVIDIA driver."""

    version: Annotated[str, About("Version, or the part of it that is fixed.", check="driver", example='"580.*"')]
    modules: Annotated[str, About("Flavour of the kernel modules.", choices=("open", "proprietary"))] = "open"
    source: Annotated[
        str,
        About(
            "Where the driver comes from: `nvidia`, `os` (the OS archive), or a name from `sources`.",
            check="name",
            example="nvidia",
        ),
    ] = "nvidia"


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerSpec:
    """The container engine and NVIDIA's toolkit for it."""

    engine: Annotated[
        str, About("The container engine, from the OS archive.", choices=("docker", "containerd"), later=("podman",))
    ] = "docker"
    toolkit: Annotated[
        str,
        About(
            "Version of NVIDIA's container toolkit; without it the engine gets no GPUs.",
            check="constraint",
            example='"1.18.*"',
        ),
    ] = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageSpec:
    """Any other package of the sources."""

    name: Annotated[str, About("Name of the package.", check="package", example="htop")]
    version: Annotated[
        str, About("Version, or the part of it that is fixed; any when left out.", check="constraint", example='"2.*"')
    ] = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class FrameworkSpec:
    """One Python package that the hosts' programs import; what it needs comes along."""

    version: Annotated[
        str,
        About(
            "Version, or the part of it that is fixed; a local part (`+cu130`) names a CUDA variant.",
            check="python",
            example='"2.9.*"',
        ),
    ]
    source: Annotated[
        str,
        About(
            "Where it comes from: `pypi`, or a source of type `python`; what it needs comes from `pypi`.",
            check="name",
            example="pypi",
        ),
    ] = "pypi"


@dataclass(frozen=True, kw_only=True, slots=True)
class StackSpec:
    """The software stack; a part that is left out or null is not wanted."""

    driver: Annotated[
        DriverSpec | None, About("The NVIDIA driver.", example='{version: "580.*", modules: open, source: nvidia}')
    ] = None
    cuda: Annotated[
        str | None, About("Release of the CUDA toolkit, as major.minor.", check="release", example='"13.0"')
    ] = None
    container: Annotated[
        ContainerSpec | None,
        About("The container engine and NVIDIA's toolkit for it.", example='{engine: docker, toolkit: "1.18.*"}'),
    ] = None
    fabric: Annotated[
        str,
        About(
            "Fabric Manager: `auto` installs it, equal to the driver, where the GPU needs it.",
            choices=("auto", "none"),
        ),
    ] = "auto"
    dcgm: Annotated[str | None, About("Version of DCGM.", check="constraint", example='"4.*"')] = None
    packages: Annotated[
        tuple[PackageSpec, ...],
        About(
            "Other packages of the sources, by name or with a version.", example='[htop, {name: jq, version: "1.*"}]'
        ),
    ] = ()
    frameworks: Annotated[
        Mapping[str, FrameworkSpec | None],
        About(
            "Python packages for the hosts' programs by name, with extras where they are wanted; they are installed "
            "into an environment of their own, /opt/gpuprov/frameworks/current.",
            key="requirement",
            example='{torch: "2.9.*"}',
        ),
    ] = field(default_factory=dict)
    kernel: Annotated[
        str,
        About(
            "The kernel: `free` leaves it to the OS; `hold` locks the one that the OS offers when the lock is made, "
            "and only `lock --upgrade kernel` moves it; or the release that hosts shall run.",
            check="kernel",
            example="6.1.0-37-amd64",
        ),
    ] = "free"


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuSpec:
    """The GPUs of a pool's hosts."""

    model: Annotated[str, About("Name of a GPU in the catalog.", check="word", example="H100-SXM5-80GB")]
    per_host: Annotated[int, About("How many of them each host has.", maximum=64, example="8")]
    mig: Annotated[
        Mapping[str, int] | None,
        About(
            "MIG profiles of each GPU, and how many of each; the layout is checked, and setting it up is built by a "
            "later release.",
            key="mig",
            example="{1g.10gb: 7}",
        ),
    ] = None
    sharing: Annotated[
        object,
        About("How containers share a GPU.", not_yet="Sharing is set up by a later release.", nothing=("none",)),
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolOnpremSpec:
    """Where the pool's hosts are in the inventory."""

    group: Annotated[str, About("Group of the inventory that holds the pool's hosts.", check="word", example="train")]


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolCloudSpec:
    """The pool's instances in the cloud."""

    instance: Annotated[str, About("Instance type.", check="word", example="p5.48xlarge")]
    hosts: Annotated[
        tuple[str, ...], About("Names of the hosts; or give `count`.", check="label", example="[train-a, train-b]")
    ] = ()
    count: Annotated[
        int | None, About("How many hosts; they are named POOL-1 and so on.", maximum=512, example="2")
    ] = None
    market: Annotated[
        str, About("How the capacity is bought.", choices=("on-demand",), later=("spot", "capacity-block"))
    ] = "on-demand"
    root: Annotated[int, About("Size of the root volume in GiB.", minimum=8, maximum=16384, example="200")] = 200
    existing: Annotated[
        object,
        About("Instances that are there already.", not_yet="Taking in existing instances is built by a later release."),
    ] = None

    def names(self, pool: str) -> tuple[str, ...]:
        """Names of the pool's cloud hosts."""
        return self.hosts or tuple(f"{pool}-{number}" for number in range(1, (self.count or 0) + 1))


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenPortSpec:
    """A TCP port of the hosts, and who may reach it."""

    port: Annotated[int, About("TCP port.", maximum=65535, example="9400")]
    ranges: Annotated[tuple[str, ...], About("Names from `ranges`.", check="name", example="[monitoring]")]


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudNetworkSpec:
    """The network of the cloud hosts."""

    cidr: Annotated[str, About("Private IPv4 range of the network.", check="cidr", example='"10.20.0.0/16"')]
    ranges: Annotated[
        Mapping[str, tuple[str, ...]],
        About(
            "Named address ranges outside the network.",
            check="cidr",
            key="name",
            example='{office: ["203.0.113.0/24"]}',
        ),
    ]
    ssh_from: Annotated[
        tuple[str, ...], About("Names from `ranges` that may log in.", check="name", example="[office]")
    ]
    open: Annotated[tuple[OpenPortSpec, ...], About("Other ports.", example="[{port: 9400, ranges: [office]}]")] = ()
    zones: Annotated[
        tuple[str, ...],
        About(
            "Availability zones; those that offer the instance types when left out.",
            check="word",
            example="[us-east-1a]",
        ),
    ] = ()
    public: Annotated[
        bool, About("Whether the hosts have public addresses; hosts without them are built by a later release.")
    ] = True


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudImageSpec:
    """What cloud hosts start from."""

    base: Annotated[str, About("The base image: `os` is the OS vendor's own.", choices=("os",))] = "os"
    bake: Annotated[bool, About("Whether `up` starts new hosts from an image of `image build` where one fits.")] = True
    builder: Annotated[str, About("Instance type of the builder.", check="word", example="c7i.2xlarge")] = "c7i.2xlarge"


TARGET_STACK = About(
    "Overrides of the spec's stack, field by field, for pools whose hosts are all on this target.",
    null=False,
    over="stack",
    example='{container: {toolkit: "1.17.*"}}',
)
"""What is said of the stack of a target; a pool's own override counts more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudSpec:
    """Hosts that are made in the cloud."""

    account: Annotated[
        str, About("The account's number; it must be the caller's.", check="account", example='"111122223333"')
    ]
    region: Annotated[str, About("Region.", check="region", example="us-east-1")]
    network: Annotated[CloudNetworkSpec, About("The network of the hosts.")]
    provider: Annotated[str, About("Whose cloud.", choices=("aws",))] = "aws"
    profile: Annotated[str | None, About("Profile of the AWS configuration.", check="word", example="train")] = None
    assume_role: Annotated[
        str | None, About("ARN of a role to take on.", check="arn", example='"arn:aws:iam::111122223333:role/ops"')
    ] = None
    login_keys: Annotated[
        tuple[str, ...],
        About(
            "Who may log in: files of public keys, relative to the spec; `agent` stands for the keys of the SSH agent.",
            check="login_key",
            single=True,
            example="agent",
        ),
    ] = ("agent",)
    user: Annotated[str, About("Login user; the image's own when left out.", check="user", example="admin")] = ""
    image: Annotated[CloudImageSpec, About("What the hosts start from.")] = field(default_factory=CloudImageSpec)
    access: Annotated[str, About("How hosts are reached.", choices=("ssh",), later=("ssm",))] = "ssh"
    state: Annotated[
        object,
        About("Where the stack's state is kept.", not_yet="State outside `.gpuprov/` is built by a later release."),
    ] = None
    stack: Annotated[StackSpec | None, TARGET_STACK] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageSpec:
    """Something that keeps data."""

    kind: Annotated[
        str,
        About(
            "`object` is a bucket that the cloud hosts may use; `volume` is an encrypted disk on each cloud host; "
            "`local` is a disk that the hosts have already, which is mounted.",
            choices=("object", "volume", "local"),
            later=("shared",),
        ),
    ]
    size: Annotated[str, About("Size of each volume; not for buckets.", check="size", example="500GiB")] = ""
    prefixes: Annotated[
        tuple[str, ...],
        About("Parts of the bucket that hosts may use; all when left out.", check="prefix", example="[runs/]"),
    ] = ()
    write: Annotated[bool, About("Whether hosts may write to the bucket.")] = True
    device: Annotated[
        str,
        About(
            "Of a local disk: its path, best one below /dev/disk/by-id; it must hold the file system, or nothing at "
            "all, and is formatted then. Anything else is never touched.",
            check="path",
            example="/dev/disk/by-id/nvme-Samsung_S1",
        ),
    ] = ""
    filesystem: Annotated[
        str, About("Of a local disk: what an empty one is formatted with.", choices=("ext4", "xfs"))
    ] = "ext4"
    mount: Annotated[
        str,
        About(
            "Where a local disk is mounted; mounting buckets and volumes is built by a later release.",
            check="path",
            example="/scratch",
        ),
    ] = ""
    pools: Annotated[
        tuple[str, ...],
        About("Of a local disk: pools whose hosts have it; all when left out.", check="name", example="[train]"),
    ] = ()

    @property
    def size_gib(self) -> int | None:
        """Size in GiB; None for a bucket."""
        return size_in_gib(self.size)


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolSpec:
    """Hosts that are equal by intention."""

    name: str
    os: str
    """After inheritance from the spec."""
    gpu: GpuSpec | None
    """None: a pool without GPUs (`gpu: none`)."""
    onprem: PoolOnpremSpec | None
    cloud: PoolCloudSpec | None = None
    rollout: RolloutSpec
    stack: StackSpec
    """After the pool's overrides."""
    verify: tuple[str, ...] = ()
    """Commands that must succeed on the pool's hosts; a pool may override the spec's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Acceptance:
    """What a rule warns of, or cannot decide, and the spec takes upon itself until a date."""

    rule: Annotated[str, About("Code of the rule; a refusal cannot be accepted.", check="rule", example="GP-RULE-004")]
    reason: Annotated[str, About("Why it is accepted.", check="text", example='"the vendor supports it until May"')]
    until: Annotated[str, About("Last day on which it holds.", check="date", example="2027-03-01")]
    at: Annotated[
        str,
        About(
            "Address that it is limited to, or the part above it; everywhere when left out.",
            check="text",
            example="pools.train",
        ),
    ] = ""


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
    cloud: CloudSpec | None = None
    """targets.cloud."""
    storage: Mapping[str, StorageSpec] = field(default_factory=dict)
    access: AccessSpec = field(default_factory=AccessSpec)
    tuning: TuningSpec = field(default_factory=TuningSpec)
    pin: str
    """lock.pin: owned | closure."""
    waivers: tuple[Waiver, ...]
    accept: tuple[Acceptance, ...] = ()
    catalog: Catalog = field(default=PACKAGED, compare=False)
    """The rows in force: the packaged ones with those of the folder that the spec names over them."""
    digest: str
    """sha256 over the canonical form of the decoded spec (comments and order of keys do not matter)."""
    spans: Mapping[str, Span] = field(default_factory=dict, compare=False)
    """Where each address stands in the file."""
