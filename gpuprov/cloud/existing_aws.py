"""Instances of the account that somebody else made: found by their tags, read and never changed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpuprov.cloud.types import InstanceState

_LIVE: Final = ("pending", "running", "stopping", "stopped")
_SPECIAL: Final = str.maketrans({letter: f"\\{letter}" for letter in "\\*?"})
"""EC2's filters take these for patterns (EC2 User Guide, Filter resources, seen 2026-11-30)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundInstance:
    """An instance of the account."""

    id: str
    type: str
    image: str
    zone: str
    state: InstanceState
    private_address: str
    public_address: str
    """Empty where it has none."""
    tags: Mapping[str, str]


def instances_with(ec2: Any, tags: Mapping[str, str]) -> tuple[FoundInstance, ...]:
    """Instances that have all of these tags, by id, those that are gone left out; see `Account.instances_with`."""
    filters = [
        {"Name": "instance-state-name", "Values": list(_LIVE)},
        *({"Name": f"tag:{key}", "Values": [value.translate(_SPECIAL)]} for key, value in tags.items()),
    ]
    found = (_instance(row) for row in _rows(ec2, filters))
    return tuple(sorted((one for one in found if tags.items() <= one.tags.items()), key=lambda one: one.id))


def _rows(ec2: Any, filters: list[dict[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for page in ec2.get_paginator("describe_instances").paginate(Filters=filters):
        for reservation in page["Reservations"]:
            yield from reservation["Instances"]


def _instance(row: Mapping[str, Any]) -> FoundInstance:
    return FoundInstance(
        id=row["InstanceId"],
        type=row["InstanceType"],
        image=str(row.get("ImageId") or ""),
        zone=str(row.get("Placement", {}).get("AvailabilityZone") or ""),
        state=InstanceState(row["State"]["Name"]),
        private_address=str(row.get("PrivateIpAddress") or ""),
        public_address=str(row.get("PublicIpAddress") or ""),
        tags={tag["Key"]: tag["Value"] for tag in row.get("Tags", ())},
    )
