"""Placement groups: hosts of a pool that stand close together."""

from collections.abc import Collection
from typing import Final

from gpuprov.cloud.decide.names import GROUP_LIMIT, shorten
from gpuprov.cloud.decide.standing import StandingHost
from gpuprov.cloud.decide.tags import Owner, tags
from gpuprov.spec.cloud import PoolCloudSpec

CLUSTER: Final = "cluster"


def placement_of(cloud: PoolCloudSpec, owner: Owner, pool: str, there: StandingHost | None) -> str:
    """Name of the placement group of a host; empty for none.

    A host that stands keeps its group, or none: an instance cannot change it while it runs, and the provider would make
    another instance.

    Args:
        cloud: the pool's.
        owner: whose stack it is.
        pool: the pool's name.
        there: the host as it stands; None for one that is made.
    """
    if there is not None:
        return there.placement
    # At most 255 characters (EC2 API Reference, CreatePlacementGroup, read 2026-11-30).
    return shorten(f"gpuprov-{owner.stack.replace(':', '-')}-{pool}", GROUP_LIMIT) if cloud.placement else ""


def placement_part(names: Collection[str], owner: Owner) -> list[dict[str, object]]:
    """The document's `placement_groups`: those that hosts are in, or will be.

    Args:
        names: of the hosts' groups; an empty one is none.
        owner: whose they are.
    """
    return [
        {"name": name, "strategy": CLUSTER, "tags": tags(owner, "placement_group", name)}
        for name in sorted(set(names) - {""})
    ]
