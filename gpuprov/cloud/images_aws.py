"""Machine images in the account: finding, making, waiting, removing."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from gpuprov.catalog.find import image as image_row
from gpuprov.cloud.aws_errors import code_of
from gpuprov.cloud.types import Image
from gpuprov.cloud.waiting import wait_until
from gpuprov.lock.types import LockedImage
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report

ARCHITECTURES: Final = {"amd64": "x86_64", "arm64": "arm64"}
"""Debian's names of architectures -> EC2's."""
_GONE: Final = frozenset({"InvalidAMIID.NotFound", "InvalidAMIID.Unavailable", "InvalidSnapshot.NotFound"})
_MALFORMED: Final = "InvalidAMIID.Malformed"
_TAKEN: Final = "InvalidAMIName.Duplicate"
_SHOWN_SECONDS: Final = 30.0
"""EC2's answers are eventually consistent (EC2 API Reference, read 2026-11-30), mostly within a few seconds."""


def find_base(ec2: Any, os: str, arch: str, region: str) -> LockedImage:
    """The newest base image; see `Account.find_base_image`."""
    row = image_row(os, arch)
    if row is None:
        raise GpuprovError(
            Diagnostic(
                code="GP-CLOUD-018",
                address=f"{os} ({arch})",
                summary="the catalog knows no publisher of machine images for this operating system",
            )
        )
    filters = [
        {"Name": "name", "Values": [row.name]},
        {"Name": "architecture", "Values": [ARCHITECTURES[arch]]},
        {"Name": "state", "Values": ["available"]},
    ]
    found = describe(ec2, Owners=[row.owner], Filters=filters)
    if not found:
        raise GpuprovError(
            Diagnostic(
                code="GP-CLOUD-018",
                address=f"{os} ({arch})",
                summary=f"the region {region} offers no machine image of this operating system",
                detail=f"asked for images of the owner {row.owner} named `{row.name}`",
                hint="see `aws ec2 describe-images --owners " + row.owner + "`, or use another region",
            )
        )
    image = newest(found)
    return LockedImage(os=os, arch=arch, region=region, owner=row.owner, name=image["Name"], id=image["ImageId"])


def newest(found: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The newest of several images."""
    # Names end in the date of the release: they order images that were copied here at the same time.
    return max(found, key=lambda image: (str(image["CreationDate"]), image["Name"]))


def exists(ec2: Any, image_id: str) -> bool:
    """Whether an image is there; see `Account.image_exists`."""
    return one(ec2, image_id) is not None


def listed(ec2: Any, spec_name: str, region: str) -> tuple[Image, ...]:
    """Images that were baked for a spec; see `Account.images`."""
    found = describe(ec2, Owners=["self"], Filters=[{"Name": "tag:gpuprov:spec", "Values": [spec_name]}])
    images = (as_image(row, region) for row in found)
    return tuple(sorted((image for image in images if image.pool), key=lambda image: (image.made, image.id)))


def make(ec2: Any, instance_id: str, image: Image, *, spec_name: str) -> str:
    """Begin to make an image; see `Account.make_image`."""
    tags = [
        {"Key": key, "Value": value}
        for key, value in {
            "Name": image.name,
            "gpuprov:spec": spec_name,
            "gpuprov:pool": image.pool,
            "gpuprov:id": f"{spec_name}/image/{image.name}",
            "gpuprov:os": image.os,
            "gpuprov:arch": image.arch,
            "gpuprov:baked": image.baked,
            "gpuprov:base": image.base,
            "gpuprov:made": image.made,
        }.items()
    ]
    try:
        answer = ec2.create_image(
            InstanceId=instance_id,
            Name=image.name,
            Description=f"gpuprov: {spec_name}, pool {image.pool}, {image.os}, baked {image.baked[:19]}",
            # On both, and with the request itself: a run that is killed a moment later leaves nothing without a name.
            TagSpecifications=[{"ResourceType": kind, "Tags": tags} for kind in ("image", "snapshot")],
        )
    except ec2.exceptions.ClientError as error:
        # botocore asks again when an answer was lost, and CreateImage takes no token: it was done the first time then.
        found = _made_already(ec2, image, spec_name) if code_of(error) == _TAKEN else None
        if found is None:
            raise
        return found
    return str(answer["ImageId"])


def _made_already(ec2: Any, image: Image, spec_name: str) -> str | None:
    """The id of the image of this very build; None when another one has its name."""
    found: list[str] = []
    asked = {"name": image.name, "tag:gpuprov:id": f"{spec_name}/image/{image.name}", "tag:gpuprov:made": image.made}
    filters = [{"Name": name, "Values": [value]} for name, value in asked.items()]

    def look() -> bool:
        found.extend(row["ImageId"] for row in describe(ec2, Owners=["self"], Filters=filters))
        return bool(found)

    wait_until(look, seconds=_SHOWN_SECONDS)
    return found[0] if found else None


def wait(ec2: Any, image_id: str, *, seconds: float, report: Report) -> tuple[str, ...]:
    """Wait for an image; see `Account.wait_for_image`."""
    last: Mapping[str, Any] = {}

    def look() -> bool:
        nonlocal last
        last = one(ec2, image_id) or {}
        state = str(last.get("State", "not visible yet"))
        report(Progress(phase="image", subject=image_id, text=state))
        if state in {"failed", "error", "invalid", "deregistered"}:
            reason = last.get("StateReason", {}).get("Message", "")
            raise GpuprovError(
                Diagnostic(
                    code="GP-CLOUD-010",
                    address=image_id,
                    summary=f"AWS could not make the image (state {state})",
                    detail=str(reason),
                    hint="run `gpuprov image build` again",
                )
            )
        return state == "available"

    if not wait_until(look, seconds=seconds):
        raise GpuprovError(
            Diagnostic(
                code="GP-CLOUD-024",
                address=image_id,
                summary=f"the image is not available after {seconds:.0f} s",
                hint="run `gpuprov image build` again; large root volumes take longer",
            )
        )
    return _snapshots(last)


def mark_checked(ec2: Any, image_id: str) -> None:
    """Note on an image that its check succeeded; see `Account.mark_checked`."""
    ec2.create_tags(Resources=[image_id], Tags=[{"Key": "gpuprov:checked", "Value": "true"}])


def remove(ec2: Any, image_id: str) -> None:
    """Deregister an image and delete its snapshots; see `Account.remove_image`."""
    found = one(ec2, image_id)
    if found is None:
        return
    try:
        ec2.deregister_image(ImageId=image_id)
    except ec2.exceptions.ClientError as error:
        if code_of(error) not in _GONE:
            raise
    for snapshot in _snapshots(found):
        remove_snapshot(ec2, snapshot)


def orphan_snapshots(ec2: Any, spec_name: str, settled: str) -> tuple[str, ...]:
    """Snapshots whose image is gone; see `Account.orphan_snapshots`."""
    used = {snapshot for image in listed(ec2, spec_name, "") for snapshot in image.snapshots}
    pages = ec2.get_paginator("describe_snapshots").paginate(
        OwnerIds=["self"], Filters=[{"Name": "tag:gpuprov:spec", "Values": [spec_name]}]
    )
    ours = [
        row["SnapshotId"]
        for page in pages
        for row in page["Snapshots"]
        if any(tag["Key"] == "gpuprov:baked" for tag in row.get("Tags", ())) and _time(row) < settled
    ]
    return tuple(snapshot for snapshot in ours if snapshot not in used)


def remove_snapshot(ec2: Any, snapshot: str) -> None:
    """Delete a snapshot; see `Account.remove_snapshot`."""
    try:
        ec2.delete_snapshot(SnapshotId=snapshot)
    except ec2.exceptions.ClientError as error:
        if code_of(error) not in _GONE:
            raise


def one(ec2: Any, image_id: str) -> dict[str, Any] | None:
    """An image by its id; None when the caller cannot see it, or it was deregistered."""
    try:
        found = describe(ec2, ImageIds=[image_id])
    except ec2.exceptions.ClientError as error:
        if code_of(error) in _GONE or code_of(error) == _MALFORMED:
            return None
        raise
    return next((image for image in found if image.get("State") != "deregistered"), None)


def describe(ec2: Any, **request: Any) -> list[dict[str, Any]]:
    """All pages of an answer about images."""
    return [image for page in ec2.get_paginator("describe_images").paginate(**request) for image in page["Images"]]


def _time(snapshot: Mapping[str, Any]) -> str:
    began: datetime = snapshot["StartTime"]
    return began.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _snapshots(image: Mapping[str, Any]) -> tuple[str, ...]:
    found = (device.get("Ebs", {}).get("SnapshotId") for device in image.get("BlockDeviceMappings", ()))
    return tuple(snapshot for snapshot in found if snapshot)


def as_image(row: Mapping[str, Any], region: str) -> Image:
    """One of our images as its tags describe it; its pool is empty where it is none of ours."""
    tags = {tag["Key"]: tag["Value"] for tag in row.get("Tags", ())}
    return Image(
        id=row["ImageId"],
        name=row.get("Name", ""),
        pool=tags.get("gpuprov:pool", ""),
        os=tags.get("gpuprov:os", ""),
        arch=tags.get("gpuprov:arch", ""),
        region=region,
        baked=tags.get("gpuprov:baked", ""),
        base=tags.get("gpuprov:base", ""),
        made=tags.get("gpuprov:made", str(row.get("CreationDate", ""))),
        snapshots=_snapshots(row),
        checked=tags.get("gpuprov:checked") == "true" and row.get("State") == "available",
    )
