"""The spec, version 1, as values. The schema, the reference pages and `explain` are generated from these types."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from gpuprov.catalog.load import PACKAGED, Catalog
from gpuprov.model.diagnostic import Span
from gpuprov.model.waiver import Waiver
from gpuprov.spec.about import About
from gpuprov.spec.access import AccessSpec
from gpuprov.spec.cloud import CloudSpec, PoolCloudSpec
from gpuprov.spec.rollout import RolloutSpec
from gpuprov.spec.stack import StackSpec
from gpuprov.spec.storage import StorageSpec
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
