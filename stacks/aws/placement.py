"""Placement groups."""

from collections.abc import Sequence

from document import PlacementGroup
from pulumi_aws import ec2


def make_placement_groups(groups: Sequence[PlacementGroup]) -> dict[str, ec2.PlacementGroup]:
    """Make the groups that hosts stand in; by name."""
    return {
        group["name"]: ec2.PlacementGroup(
            f"placement_group.{group['name']}", name=group["name"], strategy=group["strategy"], tags=group["tags"]
        )
        for group in groups
    }
