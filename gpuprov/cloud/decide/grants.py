"""Grants: what one statement of an operator's policy allows, and for which of gpuprov's commands."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gpuprov.cloud.decide.identity import partition
from gpuprov.cloud.decide.tags import SPEC

COMMANDS: Final = ("preview", "up", "stop", "destroy", "image", "import", "lock")
"""What a policy can be asked for; `stop` is `start` too, `image` all of `image build`, `list`, `verify` and `prune`."""
ALL: Final = "preview up stop destroy image import"
"""All that have to do with what stands; `lock` only looks base images up."""
MAKING: Final = "up image"
ENDING: Final = "up destroy image"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """What the policy of a spec is about."""

    spec: str
    """The spec's name as the tag `gpuprov:spec` has it."""
    account: str
    region: str
    types: tuple[str, ...]
    """Instance types of the hosts."""
    builder: str
    """Instance type of the image builder."""
    images: tuple[str, ...]
    """Ids of the base images; empty while there is no lock: then any image."""
    parameters: tuple[str, ...] = ()
    """Names of the parameters of the Systems Manager that hold ids of base images."""
    baked: bool = True
    """Whether hosts may start from images of the spec's own."""
    volumes: bool = False
    buckets: tuple[str, ...] = ()
    """Names in S3."""
    roles: tuple[str, ...] = ()
    """Names of the roles that gpuprov makes; their instance profiles are called the same."""
    brought: tuple[str, ...] = ()
    """Names of roles that the account has already."""
    boundary: str | None = None
    own_network: bool = True
    """Whether gpuprov makes the network."""
    vpc: str = "*"
    """Id of a network that is there already; `*` while the spec does not say it."""
    subnets: tuple[str, ...] = ()
    """Ids of its subnets, where the spec says them."""
    subnet_tags: Mapping[str, str] = field(default_factory=dict)
    """Tags of its subnets, where the spec says those."""
    nat: bool = False
    """Whether hosts reach out by NAT gateways."""
    services: bool = False
    """Whether AWS's services have interface endpoints."""
    spot: bool = False
    """Whether any capacity is bought on the spot market."""
    placement: bool = False
    """Whether hosts stand close together."""
    efa: bool = False
    """Whether hosts have Elastic Fabric Adapters: they are made from launch templates then."""
    shares: bool = False
    """Whether there are file systems of EFS."""
    existing_tags: tuple[Mapping[str, str], ...] = ()
    """Tags of the instances that are there already, for each pool that takes such."""
    reservations: tuple[str, ...] = ()
    """Ids of the reserved capacity that pools name; `*` for one of a group."""
    reservation_groups: tuple[str, ...] = ()
    """ARNs of groups of it."""
    state: tuple[str, str] | None = None
    """Bucket and prefix of the stack's state; None for files."""
    key: str = ""
    """What locks the state's secrets, as the engine takes it; empty for a passphrase."""
    delete_data: bool = False
    """Whether buckets and volumes may be deleted, with what is in them."""

    @property
    def partition(self) -> str:
        """The partition of the region."""
        return partition(self.region)

    def ec2(self, kind: str) -> str:
        """ARN of all of the account's resources of a kind in the region; `*` is every kind."""
        return f"arn:{self.partition}:ec2:{self.region}:{self.account}:{kind if kind == '*' else f'{kind}/*'}"

    def shared(self, kind: str, name: str = "*") -> str:
        """ARN of images or snapshots, which have no account in theirs."""
        return f"arn:{self.partition}:ec2:{self.region}::{kind}/{name}"

    def iam(self, kind: str, name: str) -> str:
        """ARN of a role or an instance profile."""
        return f"arn:{self.partition}:iam::{self.account}:{kind}/{name}"

    @property
    def here(self) -> dict[str, Any]:
        """Condition: a call to the spec's region."""
        return {"StringEquals": {"aws:RequestedRegion": self.region}}

    @property
    def ours(self) -> dict[str, Any]:
        """Condition: a resource of the spec's."""
        return {"StringEquals": {f"aws:ResourceTag/{SPEC}": self.spec}}

    @property
    def new(self) -> dict[str, Any]:
        """Condition: a resource that becomes the spec's by the very call."""
        return {"StringEquals": {f"aws:RequestTag/{SPEC}": self.spec}}


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """One statement."""

    sid: str
    actions: Mapping[str, str]
    """Action -> the commands that need it, separated by blanks."""
    resources: Mapping[str, str]
    """ARN, or `*` -> the commands that need it."""
    condition: Mapping[str, Any] = field(default_factory=dict)
    unproved: str = ""
    """Not empty: the lab's plugin makes no such calls, and the documents say that the real provider does; which."""

    def statement(self, commands: Collection[str]) -> dict[str, Any] | None:
        """The statement for some commands; None when they need nothing of it."""
        actions = sorted(action for action, for_ in self.actions.items() if _any(for_, commands))
        resources = sorted(arn for arn, for_ in self.resources.items() if _any(for_, commands))
        if not actions or not resources:
            return None
        made = {"Sid": self.sid, "Effect": "Allow", "Action": actions, "Resource": resources}
        return made | ({"Condition": dict(self.condition)} if self.condition else {})


def each(commands: str, names: str, *, prefix: str = "") -> dict[str, str]:
    """Names, separated by blanks, that the same commands need."""
    return {f"{prefix}{name}": commands for name in names.split()}


def _any(needing: str, commands: Collection[str]) -> bool:
    return not set(needing.split()).isdisjoint(commands)
