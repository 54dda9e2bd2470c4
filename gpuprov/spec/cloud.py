"""The parts of a spec that say what is made in the cloud, and of what kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from gpuprov.spec.about import About
from gpuprov.spec.base_image import BaseImageSpec
from gpuprov.spec.cloud_network import ExistingNetworkSpec, JumpSpec
from gpuprov.spec.cloud_state import CloudStateSpec
from gpuprov.spec.existing import ExistingSpec
from gpuprov.spec.market import MarketSpec
from gpuprov.spec.stack import StackSpec

HOP_LIMIT = 2
"""IMDSv2's answers may pass one bridge: containers on the host read the role's keys as the host does."""


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
    min_hosts: Annotated[
        int | None,
        About(
            "How many hosts must come up for a run to go on when AWS does not give them all; all when left out.",
            maximum=512,
            example="2",
        ),
    ] = None
    market: Annotated[
        MarketSpec,
        About("How the capacity of new hosts is bought.", example="{kind: capacity-block, id: cr-0123456789abcdef0}"),
    ] = field(default_factory=MarketSpec)
    role: Annotated[
        str,
        About(
            "Name of a role of the account that the hosts act as, in place of one that gpuprov makes; it has one "
            "instance profile, lets EC2 take it on, and holds what `gpuprov policy hosts POOL` prints.",
            check="role",
            example="gpu-hosts",
        ),
    ] = ""
    placement: Annotated[
        str | None,
        About(
            "Whether new instances are put close together, for traffic between them: `cluster`.",
            choices=("cluster", "partition", "spread"),
            later=("partition", "spread"),
        ),
    ] = None
    efa: Annotated[
        str | None,
        About(
            "Whether new instances get Elastic Fabric Adapters, all that the type takes; `ip` is the layout with the "
            "fewest addresses. What AWS's EFA installer brings (libfabric, aws-ofi-nccl) is not put on the hosts.",
            choices=("ip", "bandwidth"),
            later=("bandwidth",),
        ),
    ] = None
    metadata_hops: Annotated[
        int,
        About(
            "How many hops an answer of the instance metadata may take: 2 reaches containers, so that they may act as "
            "the host's role; 1 does not.",
            maximum=64,
        ),
    ] = HOP_LIMIT
    root: Annotated[int, About("Size of the root volume in GiB.", minimum=8, maximum=16384, example="200")] = 200
    existing: Annotated[
        ExistingSpec | None,
        About(
            "Instances that are there already, in place of `hosts` or `count`: they are found by their tags, must be "
            "of the type `instance`, and are changed in nothing that AWS knows of.",
            null=False,
            example="{tags: {gpu-pool: train}}",
        ),
    ] = None

    @property
    def starts(self) -> bool:
        """Whether the pool's instances are started from an image: not where they are there already."""
        return self.existing is None

    def names(self, pool: str) -> tuple[str, ...]:
        """Names of the pool's cloud hosts; none where the instances are there already: the account has their names."""
        return self.hosts or tuple(f"{pool}-{number}" for number in range(1, (self.count or 0) + 1))


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenPortSpec:
    """A TCP port of the hosts, and who may reach it."""

    port: Annotated[int, About("TCP port.", maximum=65535, example="9400")]
    ranges: Annotated[tuple[str, ...], About("Names from `ranges`.", check="name", example="[monitoring]")]


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudNetworkSpec:
    """The network of the cloud hosts."""

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
    cidr: Annotated[
        str | None,
        About(
            "Private IPv4 range of the network that is made; beside `existing`, the range that its VPC must have.",
            check="cidr",
            example='"10.20.0.0/16"',
        ),
    ] = None
    existing: Annotated[
        ExistingNetworkSpec | None,
        About("A network that is there already, in place of one that is made.", example="{tags: {role: gpu}}"),
    ] = None
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
        bool,
        About("Whether the hosts have public addresses; those without are reached over `jump` or the site's own way."),
    ] = True
    egress: Annotated[
        str | None,
        About(
            "How hosts without public addresses reach out: `nat` makes a NAT gateway in each zone in use; with "
            "`endpoints` they reach S3 and the services of `endpoints`, and nothing else. `nat` when left out.",
            choices=("nat", "endpoints"),
        ),
    ] = None
    endpoints: Annotated[
        tuple[str, ...],
        About(
            "AWS services with an interface endpoint in the network that is made; S3 always has a gateway endpoint.",
            check="service",
            example="[ecr.api, ecr.dkr]",
        ),
    ] = ()
    world: Annotated[
        tuple[int, ...],
        About(
            "Ports that may be open to 0.0.0.0/0 where a range says so: the open world must be said twice.",
            maximum=65535,
            example="[443]",
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudImageSpec:
    """What cloud hosts start from."""

    base: Annotated[str, About("The base image: `os` is the OS vendor's own.", choices=("os",))] = "os"
    bases: Annotated[
        Mapping[str, BaseImageSpec],
        About(
            "Base images of your own, by operating system, or by `OS-ARCHITECTURE`, in place of the vendor's; `lock` "
            "finds them, and pins their ids.",
            key="word",
            example='{debian-12: {owner: self, name: "golden-debian-12-*"}}',
        ),
    ] = field(default_factory=dict)
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
    permissions_boundary: Annotated[
        str | None,
        About(
            "ARN of a policy that bounds every role which gpuprov makes.",
            check="policy_arn",
            example='"arn:aws:iam::111122223333:policy/team"',
        ),
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
    jump: Annotated[
        JumpSpec | None,
        About("The host to go through to the cloud hosts.", example="{host: bastion.example, user: ops}"),
    ] = None
    state: Annotated[
        CloudStateSpec,
        About("Where the stack's state is kept.", example="{backend: s3://example-states/train}"),
    ] = field(default_factory=CloudStateSpec)
    ttl: Annotated[
        str | None,
        About(
            "How long the hosts are meant to be there, from when the first was made; `destroy --expired` removes them "
            "after that, and nothing else does.",
            check="duration",
            example="12h",
        ),
    ] = None
    stack: Annotated[StackSpec | None, TARGET_STACK] = None
