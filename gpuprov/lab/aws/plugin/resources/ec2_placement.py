"""Placement group."""
# ruff: noqa: ARG002 (each handler takes what the protocol in handler.py gives it)

from collections.abc import Mapping
from typing import Any

from gpuprov.lab.aws.plugin.cloud import Call, absent, gone, tag_map
from gpuprov.lab.aws.plugin.resources.handler import (
    DEPENDENCY_SECONDS,
    Known,
    Values,
    tag_outputs,
    tag_specification,
    update_ec2_tags,
)

_NO_GROUP = ("InvalidPlacementGroup.Unknown",)


class PlacementGroup:
    """aws:ec2/placementGroup:PlacementGroup."""

    noun = "EC2 Placement Group"

    def create(self, call: Call, inputs: Known) -> None:
        """CreatePlacementGroup; the id is the name, as the real provider's."""
        call.ec2(
            "create_placement_group",
            GroupName=inputs["name"],
            Strategy=inputs["strategy"],
            TagSpecifications=tag_specification("placement-group", inputs.get("tags")),
        )
        call.made = str(inputs["name"])

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribePlacementGroups."""
        row = _group(call, identity)
        if row is None:
            return None
        return {
            "arn": call.arn("ec2", f"placement-group/{identity}"),
            "name": row["GroupName"],
            "placementGroupId": row["GroupId"],
            "strategy": row["Strategy"],
            "region": call.region,
            **tag_outputs(tag_map(row.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """Tags, which hang on the group's own id; the rest makes another one."""
        row = _group(call, identity)
        if row is not None:
            update_ec2_tags(call, str(row["GroupId"]), olds.get("tags"), news.get("tags"))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeletePlacementGroup, once no instance is in it."""
        call.retry(
            lambda: gone(lambda: call.ec2("delete_placement_group", GroupName=identity), _NO_GROUP),
            while_code="InvalidPlacementGroup.InUse",
            seconds=DEPENDENCY_SECONDS,
        )


def _group(call: Call, name: str) -> Mapping[str, Any] | None:
    """Return a placement group as AWS describes it."""
    found = absent(lambda: call.ec2("describe_placement_groups", GroupNames=[name])["PlacementGroups"], _NO_GROUP)
    return found[0] if found else None
