"""Resources of a cloud account: what a run would change, as values that app returns and render shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpuprov.model.cost import CostChange


class ResourceAction(StrEnum):
    """What the engine would do, or did, with a resource."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceChange:
    """One change of one resource."""

    address: str
    """Kind and name as the spec's reader knows them, such as `instance.train-a`, `bucket.datasets`, `network.vpc`."""
    type: str
    """Pulumi's type token, such as `aws:ec2/instance:Instance`."""
    action: ResourceAction
    urn: str
    reasons: tuple[str, ...] = ()
    """Properties that force a replacement; empty otherwise."""
    changes: tuple[str, ...] = ()
    """Properties that change, as `name: before -> after` where both are known, else the name alone."""
    holds_data: bool = False
    """Whether deleting it loses data (buckets, data volumes, instances' root volumes)."""
    leftover: bool = False
    """Whether it is the deletion that belongs to a replacement, alone.

    In a plan: an earlier run, which a person allowed, made the new one; that stays. In a result: the new one could not
    be made."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewHost:
    """A host that is still to be made; it is shown by its want."""

    name: str
    pool: str
    instance: str
    """Instance type."""
    image: str
    """AMI id it will start from, with what that is: `ami-0abc (baked for this want)` or `ami-0abc (debian-12)`."""
    packages: tuple[str, ...]
    """Owned packages as `name version`; empty when the image holds them already."""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourcePlan:
    """What a run would change in the account."""

    changes: tuple[ResourceChange, ...] = ()
    unchanged: int = 0
    new_hosts: tuple[NewHost, ...] = ()
    cost: CostChange | None = None
    """What the hosts cost before and after; None where that was not asked. It is not part of what a plan promises."""

    @property
    def empty(self) -> bool:
        """Whether nothing would change."""
        return not self.changes


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceResult:
    """What a run changed in the account."""

    changed: tuple[ResourceChange, ...] = ()
    unchanged: int = 0
    left: Mapping[str, str] = field(default_factory=dict)
    """What `destroy` left because it holds data: address -> id or name."""
    seconds: float = 0.0
