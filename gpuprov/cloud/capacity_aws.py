"""What an account may still start, asked of AWS: reserved capacity, quotas, and what counts against them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from gpuprov.cloud.aws_errors import code_of
from gpuprov.cloud.types import Reservation

_LIVE: Final = ("pending", "running")
"""States in which an instance counts against a quota of running ones (EC2 User Guide, On-Demand quotas, 2026-11-30)."""
_AT_ONCE: Final = 200
"""Most values of one filter (EC2 API Reference, DescribeInstances, read 2026-11-30)."""
_MISSING: Final = frozenset({"InvalidCapacityReservationId.NotFound", "InvalidCapacityReservationId.Malformed"})
_RESERVATION: Final = "capacity-reservation/"


def reservations(ec2: Any, groups: Any, *, id_: str, group: str) -> tuple[Reservation, ...]:
    """The reservations of an id or a resource group; see `Account.reservations`.

    Args:
        ec2: the client of EC2.
        groups: the client of resource groups; asked only for a group.
        id_: a reservation's id; empty for a group.
        group: a resource group's ARN.
    """
    ids = [id_] if id_ else _members(groups, group)
    if not ids:
        return ()
    try:
        pages = ec2.get_paginator("describe_capacity_reservations").paginate(CapacityReservationIds=ids)
        rows = [row for page in pages for row in page["CapacityReservations"]]
    except ec2.exceptions.ClientError as error:
        if code_of(error) not in _MISSING:
            raise
        return ()
    return tuple(_reservation(row) for row in sorted(rows, key=lambda row: str(row["CapacityReservationId"])))


def quota(service_quotas: Any, code: str) -> int | None:
    """The applied value of a quota of EC2 in the region; None where Service Quotas does not know it there."""
    try:
        answer = service_quotas.get_service_quota(ServiceCode="ec2", QuotaCode=code)
    except service_quotas.exceptions.ClientError as error:
        if code_of(error) != "NoSuchResourceException":
            raise
        return None
    return int(answer["Quota"]["Value"])


def in_use(ec2: Any, types: Mapping[str, tuple[str, int]]) -> dict[tuple[str, str], int]:
    """(family, on-demand | spot) -> vCPUs of the account's running instances in the region.

    Those in reserved capacity are left out: the reservation itself counts, whether it is used or not.

    Args:
        ec2: the client.
        types: instance type -> its family, and the vCPUs for which it counts: those of the type, whatever an instance
            was told to use. Instances of other types are passed over.
    """
    found = {(family, offer): 0 for family, _ in types.values() for offer in ("on-demand", "spot")}
    for instance in _running(ec2, sorted(types)):
        if not instance.get("CapacityReservationId"):
            family, vcpus = types[instance["InstanceType"]]
            found[family, "spot" if instance.get("InstanceLifecycle") == "spot" else "on-demand"] += vcpus
    return found


def _running(ec2: Any, types: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    live = {"Name": "instance-state-name", "Values": list(_LIVE)}
    for start in range(0, len(types), _AT_ONCE):
        named = {"Name": "instance-type", "Values": list(types[start : start + _AT_ONCE])}
        for page in ec2.get_paginator("describe_instances").paginate(Filters=[live, named]):
            for reservation in page["Reservations"]:
                yield from reservation["Instances"]


def _members(groups: Any, group: str) -> list[str]:
    try:
        pages = groups.get_paginator("list_group_resources").paginate(Group=group)
        arns = [row["Identifier"]["ResourceArn"] for page in pages for row in page.get("Resources", ())]
    except groups.exceptions.ClientError as error:
        if code_of(error) != "NotFoundException":
            raise
        return []
    return sorted(arn.rpartition("/")[2] for arn in arns if _RESERVATION in arn)


def _reservation(row: Mapping[str, Any]) -> Reservation:
    return Reservation(
        id=str(row["CapacityReservationId"]),
        type=str(row["InstanceType"]),
        zone=str(row["AvailabilityZone"]),
        state=str(row["State"]),
        total=int(row["TotalInstanceCount"]),
        free=int(row["AvailableInstanceCount"]),
        kind=str(row.get("ReservationType") or "default"),
        platform=str(row.get("InstancePlatform") or ""),
        tenancy=str(row.get("Tenancy") or "default"),
        begins=_stamp(row.get("StartDate")),
        ends=_stamp(row.get("EndDate")),
    )


def _stamp(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
