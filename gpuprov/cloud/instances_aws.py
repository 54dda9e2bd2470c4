"""Instances, as EC2 tells of them: state, checks, console output, and where their types are offered."""

from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

from gpuprov.cloud.aws_errors import code_of
from gpuprov.cloud.types import InstanceHealth, InstanceState
from gpuprov.cloud.waiting import wait_until
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report

_WORST_FIRST: Final = ("impaired", "insufficient-data", "initializing", "not-applicable", "ok")
_CHECKS: Final = ("SystemStatus", "InstanceStatus", "AttachedEbsStatus")
_LIVE: Final = ("pending", "running", "stopping", "stopped")
_AT_ONCE: Final = 100
"""Ids in one request; AWS allows 200 values in a filter."""


def offerings(ec2: Any, types: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Instance type -> zones of the region that offer it and can be used; see `Account.offerings`."""
    zones = {
        zone["ZoneName"]
        for zone in ec2.describe_availability_zones()["AvailabilityZones"]
        # Local zones and wavelength zones offer some types too, but not all that a stack needs.
        if zone.get("State") == "available" and zone.get("ZoneType", "availability-zone") == "availability-zone"
    }
    found: dict[str, set[str]] = {name: set() for name in types}
    pages = ec2.get_paginator("describe_instance_type_offerings").paginate(
        LocationType="availability-zone", Filters=[{"Name": "instance-type", "Values": sorted(found)}]
    )
    for page in pages if found else ():
        for row in page["InstanceTypeOfferings"]:
            # The filter takes patterns: a `*` in a type must not bring others in.
            if row["InstanceType"] in found and row["Location"] in zones:
                found[row["InstanceType"]].add(row["Location"])
    return {name: tuple(sorted(places)) for name, places in found.items()}


def health(ec2: Any, ids: Collection[str]) -> dict[str, InstanceHealth]:
    """Instance id -> state and checks; see `Account.health`."""
    wanted = sorted(set(ids))
    found: dict[str, InstanceHealth] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        # A filter, not InstanceIds: with these one unknown id fails the whole request.
        filters = [{"Name": "instance-id", "Values": wanted[start : start + _AT_ONCE]}]
        instances = list(_instances(ec2, filters))
        checks = _checks(ec2, [instance["InstanceId"] for instance in instances])
        for instance in instances:
            name = instance["InstanceId"]
            found[name] = InstanceHealth(
                id=name,
                state=InstanceState(instance["State"]["Name"]),
                checks=checks.get(name, "insufficient-data"),
                reason=_reason(instance),
                private_address=str(instance.get("PrivateIpAddress") or ""),
                public_address=str(instance.get("PublicIpAddress") or ""),
                launched=instance["LaunchTime"].isoformat() if "LaunchTime" in instance else "",
            )
    return found


def console(ec2: Any, instance_id: str) -> str:
    """The console output, newest first tried; see `Account.console`."""
    try:
        answer = ec2.get_console_output(InstanceId=instance_id, Latest=True)
    except ec2.exceptions.ClientError as error:
        # Instances without the Nitro system give only what was kept after their last start or stop.
        if code_of(error) not in {"UnsupportedOperation", "InvalidParameterCombination"}:
            raise
        answer = ec2.get_console_output(InstanceId=instance_id)
    return str(answer.get("Output") or "")


def switch(ec2: Any, ids: Collection[str], *, on: bool, seconds: float, report: Report) -> None:
    """Start or stop instances and wait; see `Account.switch`."""
    wanted = InstanceState.RUNNING if on else InstanceState.STOPPED
    if on:
        # What is still stopping cannot be started: EC2 answers IncorrectInstanceState.
        _await(ec2, ids, lambda state: state is not InstanceState.STOPPING, "stop", seconds, report)
        ec2.start_instances(InstanceIds=sorted(ids))
    else:
        ec2.stop_instances(InstanceIds=sorted(ids))
    _await(ec2, ids, lambda state: state is wanted, "start" if on else "stop", seconds, report)


def _await(
    ec2: Any,
    ids: Collection[str],
    good: Callable[[InstanceState], bool],
    doing: str,
    seconds: float,
    report: Report,
) -> None:
    left: list[str] = []

    def look() -> bool:
        found = health(ec2, ids)
        left.clear()
        for name in sorted(ids):
            state = found[name].state if name in found else InstanceState.TERMINATED
            report(Progress(phase=doing, subject=name, text=str(state)))
            if state in {InstanceState.TERMINATED, InstanceState.SHUTTING_DOWN}:
                raise GpuprovError(
                    Diagnostic(
                        code="GP-CLOUD-016",
                        address=name,
                        summary=f"the instance was terminated while it was to {doing}",
                        detail=found[name].reason if name in found else "",
                    )
                )
            left.extend([] if good(state) else [name])
        return not left

    if not wait_until(look, seconds=seconds):
        raise GpuprovError(
            *(
                Diagnostic(
                    code="GP-CLOUD-024",
                    address=name,
                    summary=f"the instance did not {doing} within {seconds:.0f} s",
                    hint="see its state in the console of AWS, then run the same command again",
                )
                for name in left
            )
        )


def images_in_use(ec2: Any, spec_name: str, ids: Collection[str] = ()) -> frozenset[str]:
    """Image ids of the spec's instances, and which of some ids any other instance has; see `Account.images_in_use`."""
    live = {"Name": "instance-state-name", "Values": list(_LIVE)}
    wanted = sorted(set(ids))
    asked = [{"Name": "tag:gpuprov:spec", "Values": [spec_name]}]
    asked += [
        {"Name": "image-id", "Values": wanted[start : start + _AT_ONCE]} for start in range(0, len(wanted), _AT_ONCE)
    ]
    return frozenset(instance["ImageId"] for one in asked for instance in _instances(ec2, [one, live]))


def find_instances(ec2: Any, key: str) -> list[str]:
    """Ids of instances with this tag `gpuprov:id` that are not terminated and not about to be."""
    return [identity for identity, _ in tagged_instances(ec2, "gpuprov:id", key)]


def tagged_instances(ec2: Any, tag: str, value: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Ids and tags of instances that are not terminated and not about to be, by one of their tags."""
    filters = [
        {"Name": f"tag:{tag}", "Values": [value]},
        {"Name": "instance-state-name", "Values": list(_LIVE)},
    ]
    for instance in _instances(ec2, filters):
        yield instance["InstanceId"], {row["Key"]: row["Value"] for row in instance.get("Tags", [])}


def _instances(ec2: Any, filters: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for page in ec2.get_paginator("describe_instances").paginate(Filters=filters):
        for reservation in page["Reservations"]:
            yield from reservation["Instances"]


def _checks(ec2: Any, ids: list[str]) -> dict[str, str]:
    if not ids:
        return {}
    try:
        answer = ec2.describe_instance_status(InstanceIds=ids, IncludeAllInstances=True)
    except ec2.exceptions.ClientError as error:
        # EC2 is eventually consistent: one part of it may know a new instance that another does not know yet.
        if code_of(error) != "InvalidInstanceID.NotFound":
            raise
        return {}
    return {
        row["InstanceId"]: _worst(row[part]["Status"] for part in _CHECKS if row.get(part, {}).get("Status"))
        for row in answer["InstanceStatuses"]
    }


def _worst(states: Iterator[str]) -> str:
    seen = set(states)
    return next((state for state in _WORST_FIRST if state in seen), "insufficient-data")


def _reason(instance: dict[str, Any]) -> str:
    return str(instance.get("StateReason", {}).get("Message") or instance.get("StateTransitionReason") or "")
