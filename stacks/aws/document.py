"""The form of the stack document, as gpuprov writes it: plain JSON, every decision made."""

from typing import Any, NotRequired, TypedDict

Tags = dict[str, str]


class Subnet(TypedDict):
    """One zone's part of the network."""

    name: str
    id: str | None
    """Of one that is there already, and is not made."""
    cidr: str
    zone: str
    tags: Tags


class Tagged(TypedDict):
    """A resource of which nothing but the tags is to be decided."""

    tags: Tags


class Nat(TypedDict):
    """A zone's NAT gateway, in a public subnet of its own."""

    name: str
    cidr: str
    zone: str
    tags: Tags
    subnet_tags: Tags
    address_tags: Tags
    route_table_tags: Tags


class Endpoint(TypedDict):
    """A way to one of AWS's services that does not leave the network."""

    name: str
    service: str
    interface: bool
    """Whether it has interfaces in the zones' subnets; else it is a route to S3."""
    zones: list[str]
    tags: Tags


class Network(TypedDict):
    """The VPC and what belongs to it."""

    cidr: str
    vpc: str | None
    """Id of one that is there already: then nothing of it is made but the security group."""
    public: bool
    subnets: list[Subnet]
    tags: Tags
    gateway: Tagged | None
    route_table: Tagged | None
    nats: list[Nat]
    endpoints: list[Endpoint]


class Rule(TypedDict):
    """One rule of the security group; exactly one of `cidr` and `members` says who is meant."""

    name: str
    description: str
    protocol: str
    from_port: int | None
    to_port: int | None
    cidr: str | None
    members: bool
    tags: Tags


class SecurityGroup(TypedDict):
    """Who may reach the hosts, and what they may reach."""

    name: str
    description: str
    ingress: list[Rule]
    egress: list[Rule]
    tags: Tags


class Identity(TypedDict):
    """A role of hosts; `key` is `main`, or `pool/NAME` for a pool's own."""

    key: str
    name: str
    assume_role_policy: dict[str, Any]
    policy: dict[str, Any] | None
    permissions_boundary: str | None
    tags: Tags
    profile_tags: Tags


class Bucket(TypedDict):
    """One bucket; `name` is the storage's, `bucket` the name in S3."""

    name: str
    bucket: str
    force_destroy: bool
    policy: dict[str, Any]
    unfinished_days: int
    tags: Tags


class Volume(TypedDict):
    """One data volume; `host` and `device` are None where it is attached to nothing."""

    name: str
    zone: str
    size_gib: int
    iops: int
    throughput: int
    host: str | None
    device: str | None
    tags: Tags


class Share(TypedDict):
    """One file system of EFS."""

    name: str
    creation_token: str
    throughput: str
    tags: Tags


class ShareGroup(TypedDict):
    """Who reaches the file systems: the hosts, at one port."""

    name: str
    description: str
    port: int
    tags: Tags
    rule_tags: Tags


class MountTarget(TypedDict):
    """Where a file system is reached in one subnet."""

    name: str
    share: str
    subnet: str


class ShareAccess(TypedDict):
    """The way to the file systems."""

    group: ShareGroup
    targets: list[MountTarget]


class Market(TypedDict):
    """How a host's capacity is bought, where that is not on demand."""

    kind: str
    """spot | capacity-block | reservation."""
    max_price: str | None
    """Of spot: the most that an hour may cost; None: the price on demand."""
    reservation: str | None
    """Id of what is reserved; None for spot."""


class PlacementGroup(TypedDict):
    """Hosts that stand close together."""

    name: str
    strategy: str
    tags: Tags


class Interface(TypedDict):
    """One network interface of an instance."""

    type: str
    """interface | efa | efa-only."""
    card: int
    device: int
    public: bool | None
    """Whether it gets a public address; None where EC2 does not take the question: beside other interfaces."""


class LaunchTemplate(TypedDict):
    """The network interfaces of new instances in one subnet; the first one is the primary."""

    name: str
    subnet: str
    interfaces: list[Interface]
    tags: Tags


class Instance(TypedDict):
    """One host; `identity` is the key of its role, `instance_profile` the name of one that the account had before."""

    name: str
    pool: str
    type: str
    image: str
    zone: str
    subnet: str
    root_gib: int
    user_data: str
    hop_limit: int
    placement_group: str | None
    launch_template: str | None
    """Name of the one that holds its interfaces; None for one plain interface."""
    identity: str | None
    instance_profile: str | None
    market: Market | None
    replace: bool
    tags: Tags
    root_tags: Tags


class Document(TypedDict):
    """The whole document."""

    kind: str
    apiVersion: str
    spec: str
    stack: str
    region: str
    network: Network | None
    security_group: SecurityGroup | None
    placement_groups: list[PlacementGroup]
    launch_templates: list[LaunchTemplate]
    identity: Identity | None
    pool_identities: list[Identity]
    buckets: list[Bucket]
    volumes: list[Volume]
    shares: list[Share]
    share_access: ShareAccess | None
    instances: list[Instance]
    imports: NotRequired[dict[str, str]]
    """Name of a resource -> id of the one of the account that becomes it; only while it is taken in."""
