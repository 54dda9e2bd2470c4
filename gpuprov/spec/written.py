"""The spec as people write it, key by key; types.py holds it as the other rooms read it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from gpuprov.spec.about import About
from gpuprov.spec.access import AccessSpec
from gpuprov.spec.cloud import TARGET_STACK, CloudSpec, PoolCloudSpec
from gpuprov.spec.rollout import RolloutSpec
from gpuprov.spec.stack import StackSpec
from gpuprov.spec.storage import StorageSpec
from gpuprov.spec.tuning import TuningSpec
from gpuprov.spec.types import Acceptance, GpuSpec, PoolOnpremSpec, SourceSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenFile:
    """A file of the host that the spec gives in full; its path is the key."""

    text: Annotated[str, About("The whole text of the file.", check="content", example='"GPU host\\n"')]
    mode: Annotated[str, About("Permissions in octal.", check="mode", example='"0644"')] = "0644"
    owner: Annotated[str, About("User that owns the file.", check="user", example="root")] = "root"
    group: Annotated[str, About("Group that owns the file.", check="user", example="root")] = "root"


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenPool:
    """Hosts that are equal by intention."""

    gpu: Annotated[
        GpuSpec | None,
        About(
            "The GPUs of each host; `none` for hosts without GPUs: the stack is installed, nothing is loaded.",
            none_word="none",
            example="{model: H100-SXM5-80GB, per_host: 8}",
        ),
    ]
    os: Annotated[str | None, About("Operating system, in place of the spec's.", check="word", example="debian-12")] = (
        None
    )
    onprem: Annotated[
        PoolOnpremSpec | None, About("Where the pool's hosts are in the inventory.", example="{group: train}")
    ] = None
    rollout: Annotated[RolloutSpec, About("In what steps hosts are changed.", example="{batch: 25%}")] = field(
        default_factory=RolloutSpec
    )
    stack: Annotated[
        StackSpec | None,
        About(
            "Overrides of the spec's stack, field by field; null takes a single part away.",
            null=False,
            over="stack",
            example="{dcgm: null}",
        ),
    ] = None
    verify: Annotated[
        tuple[str, ...] | None, About("Commands in place of the spec's.", check="command", example='["nvidia-smi -L"]')
    ] = None
    cloud: Annotated[
        PoolCloudSpec | None,
        About("The pool's instances in the cloud.", example="{instance: p5.48xlarge, hosts: [train-a, train-b]}"),
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenLock:
    """How the lock is made."""

    pin: Annotated[
        str,
        About(
            "What is pinned one by one: `owned` packages, or the `closure` of everything that they need, for a mirror "
            "or a dated archive: the OS's own drops old versions at every update.",
            choices=("owned", "closure"),
        ),
    ] = "owned"


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenMonitoring:
    """What the hosts show to monitoring."""

    exporters: Annotated[
        tuple[str, ...],
        About(
            "Exporters that answer on each host: `node` on port 9100, `dcgm` on port 9400 where there are GPUs.",
            choices=("node", "dcgm"),
            example="[node, dcgm]",
        ),
    ] = ()
    alerts: Annotated[
        object, About("Alert rules.", not_yet="Alert rules are written by a later release.", nothing=("none",))
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenOnprem:
    """Hosts that are there already."""

    inventory: Annotated[
        str, About("Ansible inventory, relative to the spec.", check="file", example="inventory/site.yml")
    ]
    stack: Annotated[StackSpec | None, TARGET_STACK] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenTargets:
    """Where hosts come from."""

    onprem: Annotated[
        WrittenOnprem | None, About("Hosts of an inventory.", example="{inventory: inventory/site.yml}")
    ] = None
    cloud: Annotated[CloudSpec | None, About("Hosts that are made in the cloud.")] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenWaiver:
    """A difference that is accepted until a date."""

    facet: Annotated[str, About("Address or pattern of the facet.", check="facet", example="host.kernel.release")]
    reason: Annotated[str, About("Why it is accepted.", check="text", example='"kernel is pinned by the vendor"')]
    until: Annotated[str, About("Last day on which it holds.", check="date", example="2027-03-01")]


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenParity:
    """How hosts are compared."""

    waivers: Annotated[
        tuple[WrittenWaiver, ...],
        About(
            "Differences that are accepted until a date.",
            example="[{facet: host.kernel.release, reason: kernels follow the OS, until: 2027-03-01}]",
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenSpec:
    """The top of a spec."""

    apiVersion: Annotated[str, About("Version of the spec's form.", check="api", example="gpuprov/v1")]  # noqa: N815 - the key in the file
    name: Annotated[str, About("Name of the site.", check="name", example="train")]
    os: Annotated[str, About("Operating system of the hosts; a pool may differ.", check="word", example="debian-12")]
    sources: Annotated[
        Mapping[str, SourceSpec], About("Package sources beside the catalog's own, or in place of one.", key="name")
    ] = field(default_factory=dict)
    stack: Annotated[StackSpec, About("The software stack of all pools.")] = field(default_factory=StackSpec)
    lock: Annotated[WrittenLock, About("How the lock is made.")] = field(default_factory=WrittenLock)
    targets: Annotated[WrittenTargets, About("Where hosts come from.")] = field(default_factory=WrittenTargets)
    pools: Annotated[Mapping[str, WrittenPool], About("Groups of hosts that are equal by intention.", key="name")]
    files: Annotated[
        Mapping[str, WrittenFile],
        About("Files of the hosts, by path.", key="path", example='{"/etc/motd": {text: "GPU host\\n"}}'),
    ] = field(default_factory=dict)
    monitoring: Annotated[WrittenMonitoring, About("What the hosts show to monitoring.")] = field(
        default_factory=WrittenMonitoring
    )
    verify: Annotated[
        tuple[str, ...],
        About(
            "Commands that must succeed on a host after it was changed.", check="command", example='["nvidia-smi -L"]'
        ),
    ] = ()
    parity: Annotated[WrittenParity, About("How hosts are compared.")] = field(default_factory=WrittenParity)
    access: Annotated[
        AccessSpec | None,
        About("Users, groups, their keys, and rules of sudo.", example="{groups: {ml: {members: [{name: ana}]}}}"),
    ] = None
    storage: Annotated[
        Mapping[str, StorageSpec],
        About(
            "What keeps data beside the cloud hosts, by name.",
            key="storage",
            example="{datasets: {kind: object}, scratch: {kind: volume, size: 500GiB}}",
        ),
    ] = field(default_factory=dict)
    tuning: Annotated[
        TuningSpec | None,
        About("Settings of kernel, limits, processors and GPUs.", example="{limits: {memlock: unlimited}}"),
    ] = None
    accept: Annotated[
        tuple[Acceptance, ...],
        About(
            "Warnings of rules, and what rules cannot decide, that are accepted until a date.",
            example="[{rule: GP-RULE-004, reason: ..., until: 2027-03-01}]",
        ),
    ] = ()
    catalog: Annotated[
        str | None,
        About(
            "Folder with catalog rows of your own, relative to the spec; they count before the packaged ones.",
            check="file",
            example="catalog",
        ),
    ] = None


SHORTHANDS = {
    "PackageSpec": "name",
    "FrameworkSpec": "version",
    "DrainSpec": "by",
    "MarketSpec": "kind",
    "SudoSpec": "all",
}
"""Types that a plain text may stand for, with the field that the text fills."""
LIST_SHORTHANDS = {"SudoSpec": "commands"}
"""Types that a list may stand for, with the field that the list fills."""
