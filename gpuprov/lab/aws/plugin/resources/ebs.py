"""EBS volume and its attachment to an instance."""
# ruff: noqa: ARG002 (each handler takes what the protocol in handler.py gives it)

import zlib
from collections.abc import Mapping
from typing import Any

from gpuprov.lab.aws.plugin.cloud import Call, absent, gone, tag_map
from gpuprov.lab.aws.plugin.errors import ProviderError
from gpuprov.lab.aws.plugin.resources.handler import (
    DEPENDENCY_SECONDS,
    Known,
    Values,
    changed,
    tag_outputs,
    tag_specification,
    update_ec2_tags,
)

_NO_VOLUME = ("InvalidVolume.NotFound",)
_NO_INSTANCE = ("InvalidInstanceID.NotFound",)
_DETACHED = ("IncorrectState", "InvalidAttachment.NotFound", *_NO_VOLUME, *_NO_INSTANCE)


class Volume:
    """aws:ebs/volume:Volume."""

    noun = "EBS Volume"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateVolume, then wait until it can be attached."""
        made = call.ec2(
            "create_volume",
            AvailabilityZone=inputs["availabilityZone"],
            Size=inputs.get("size"),
            VolumeType=inputs.get("type"),
            Iops=inputs.get("iops"),
            Throughput=inputs.get("throughput"),
            Encrypted=inputs.get("encrypted"),
            SnapshotId=inputs.get("snapshotId"),
            TagSpecifications=tag_specification("volume", inputs.get("tags")),
        )
        identity = str(made["VolumeId"])
        call.made = identity
        call.wait(lambda: self._available(call, identity), doing=f"waiting for EBS Volume ({identity}) create")

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeVolumes."""
        volume = volume_of(call, identity)
        if volume is None:
            return None
        return {
            "arn": call.arn("ec2", f"volume/{identity}"),
            "availabilityZone": volume["AvailabilityZone"],
            "createTime": volume["CreateTime"].isoformat(),
            "encrypted": volume["Encrypted"],
            "iops": volume.get("Iops"),
            "kmsKeyId": volume.get("KmsKeyId"),
            "multiAttachEnabled": volume.get("MultiAttachEnabled", False),
            "size": volume["Size"],
            "snapshotId": volume.get("SnapshotId", ""),
            "throughput": volume.get("Throughput"),
            "type": volume["VolumeType"],
            "region": call.region,
            **tag_outputs(tag_map(volume.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """ModifyVolume and tags."""
        modify_volume(
            call,
            identity,
            size=news.get("size") if changed("size", olds, news) else None,
            kind=news.get("type") if changed("type", olds, news) else None,
            iops=news.get("iops") if changed("iops", olds, news) else None,
            throughput=news.get("throughput") if changed("throughput", olds, news) else None,
        )
        update_ec2_tags(call, identity, olds.get("tags"), news.get("tags"))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteVolume once it is detached, after a last snapshot where one is asked for."""
        if known.get("finalSnapshot") and volume_of(call, identity) is not None:
            snapshot = call.ec2("create_snapshot", VolumeId=identity)["SnapshotId"]
            call.wait(lambda: self._completed(call, snapshot), doing=f"waiting for EBS Snapshot ({snapshot}) create")
        call.retry(
            lambda: gone(lambda: call.ec2("delete_volume", VolumeId=identity), _NO_VOLUME),
            while_code="VolumeInUse",
            seconds=DEPENDENCY_SECONDS,
        )

    @staticmethod
    def _available(call: Call, identity: str) -> bool | None:
        """Whether the volume can be attached; None when not yet."""
        volume = volume_of(call, identity)
        if volume is None or volume["State"] == "error":
            raise ProviderError(f"waiting for EBS Volume ({identity}) create: unexpected state 'error'")
        return True if volume["State"] in {"available", "in-use"} else None

    @staticmethod
    def _completed(call: Call, snapshot: str) -> bool | None:
        """Whether the snapshot is done; None when not yet."""
        state = call.ec2("describe_snapshots", SnapshotIds=[snapshot])["Snapshots"][0]["State"]
        return True if state == "completed" else None


class VolumeAttachment:
    """aws:ec2/volumeAttachment:VolumeAttachment."""

    noun = "EBS Volume Attachment"

    def create(self, call: Call, inputs: Known) -> None:
        """AttachVolume once the instance is ready."""
        volume_id, instance_id, device = inputs["volumeId"], inputs["instanceId"], inputs["deviceName"]
        call.wait(lambda: self._ready(call, instance_id), doing=f"waiting for EC2 Instance ({instance_id}) to be ready")
        call.ec2("attach_volume", VolumeId=volume_id, InstanceId=instance_id, Device=device)
        call.made = _attachment_id(device, instance_id, volume_id)
        call.wait(
            lambda: self._attached(call, inputs),
            doing=f"waiting for EBS Volume ({volume_id}) Attachment ({instance_id}) create",
        )

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """Find the attachment on its volume."""
        if not self._attached(call, known):
            return None
        return {name: known[name] for name in ("deviceName", "instanceId", "volumeId")} | {"region": call.region}

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """Do nothing: what can change is kept by the provider alone."""

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DetachVolume and wait, or leave it attached where that is asked for."""
        if known.get("skipDestroy"):
            return
        volume_id, instance_id = known["volumeId"], known["instanceId"]
        if known.get("stopInstanceBeforeDetaching"):
            gone(lambda: call.ec2("stop_instances", InstanceIds=[instance_id]), _NO_INSTANCE)
            call.wait(lambda: self._stopped(call, instance_id), doing=f"waiting for EC2 Instance ({instance_id}) stop")
        gone(
            lambda: call.ec2(
                "detach_volume",
                VolumeId=volume_id,
                InstanceId=instance_id,
                Device=known["deviceName"],
                Force=known.get("forceDetach"),
            ),
            _DETACHED,
        )
        call.wait(
            lambda: None if self._attached(call, known) else True,
            doing=f"waiting for EBS Volume ({volume_id}) Attachment ({instance_id}) delete",
        )

    @staticmethod
    def _ready(call: Call, identity: str) -> bool | None:
        """Whether a volume can be attached; None when not yet."""
        found = call.ec2("describe_instances", InstanceIds=[identity])["Reservations"][0]["Instances"][0]
        state = found["State"]["Name"]
        if state in {"shutting-down", "terminated"}:
            raise ProviderError(
                f"waiting for EC2 Instance ({identity}) to be ready: unexpected state '{state}', "
                "wanted target 'running, stopped'"
            )
        return True if state in {"running", "stopped"} else None

    @staticmethod
    def _stopped(call: Call, identity: str) -> bool | None:
        """Whether the instance has stopped or gone; None when not yet."""
        found = absent(lambda: call.ec2("describe_instances", InstanceIds=[identity])["Reservations"], _NO_INSTANCE)
        if not found:
            return True
        return True if found[0]["Instances"][0]["State"]["Name"] in {"stopped", "terminated"} else None

    @staticmethod
    def _attached(call: Call, known: Known) -> bool | None:
        """Whether the volume is attached as the inputs say; None when it is not."""
        volume = volume_of(call, known["volumeId"])
        for each in volume.get("Attachments", []) if volume else ():
            if each["InstanceId"] == known["instanceId"] and each["Device"] == known["deviceName"]:
                return True if each["State"] in {"attached", "busy"} else None
        return None


def volume_of(call: Call, identity: str) -> Mapping[str, Any] | None:
    """Return a volume as AWS describes it; None when it is gone."""
    found = absent(lambda: call.ec2("describe_volumes", VolumeIds=[identity])["Volumes"], _NO_VOLUME)
    return found[0] if found and found[0]["State"] != "deleted" else None


def modify_volume(
    call: Call, identity: str, *, size: int | None, kind: str | None, iops: int | None, throughput: int | None
) -> None:
    """ModifyVolume for what is given, which no volume has to wait for here.

    Raises:
        AwsError: AWS refuses, for example to shrink.
    """
    if size is None and kind is None and iops is None and throughput is None:
        return
    call.ec2("modify_volume", VolumeId=identity, Size=size, VolumeType=kind, Iops=iops, Throughput=throughput)


def _attachment_id(device: str, instance: str, volume: str) -> str:
    """Return the real provider's id: `vai-` and a CRC, because AWS has none."""
    return f"vai-{zlib.crc32(f'{device}-{instance}-{volume}-'.encode())}"
