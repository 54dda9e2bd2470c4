"""File system of EFS and its mount targets."""
# ruff: noqa: ARG002 (each handler takes what the protocol in handler.py gives it)

from collections.abc import Mapping
from typing import Any

from gpuprov.lab.aws.plugin.cloud import Call, absent, gone, tag_list, tag_map
from gpuprov.lab.aws.plugin.resources.handler import Known, Values, changed, tag_outputs

_NO_SHARE = ("FileSystemNotFound",)
_NO_TARGET = ("MountTargetNotFound",)


class FileSystem:
    """aws:efs/fileSystem:FileSystem."""

    noun = "EFS File System"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateFileSystem, then wait until it can be mounted."""
        made = call.efs(
            "create_file_system",
            CreationToken=inputs["creationToken"],
            PerformanceMode=inputs.get("performanceMode"),
            Encrypted=inputs.get("encrypted"),
            KmsKeyId=inputs.get("kmsKeyId"),
            ThroughputMode=inputs.get("throughputMode"),
            Tags=tag_list(inputs.get("tags")) or None,
        )
        identity = str(made["FileSystemId"])
        call.made = identity
        call.wait(lambda: self._available(call, identity), doing=f"waiting for EFS File System ({identity}) create")

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeFileSystems."""
        share = _share(call, identity)
        if share is None:
            return None
        return {
            "arn": call.arn("elasticfilesystem", f"file-system/{identity}"),
            "creationToken": share["CreationToken"],
            "dnsName": f"{identity}.efs.{call.region}.amazonaws.com",
            "encrypted": share["Encrypted"],
            "kmsKeyId": share.get("KmsKeyId"),
            "name": share.get("Name", ""),
            "numberOfMountTargets": share["NumberOfMountTargets"],
            "ownerId": share["OwnerId"],
            "performanceMode": share["PerformanceMode"],
            "throughputMode": share["ThroughputMode"],
            "region": call.region,
            **tag_outputs(tag_map(share.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """UpdateFileSystem and tags."""
        if changed("throughputMode", olds, news):
            call.efs("update_file_system", FileSystemId=identity, ThroughputMode=news["throughputMode"])
        before, after = olds.get("tags") or {}, news.get("tags") or {}
        if dropped := sorted(before.keys() - after.keys()):
            call.efs("untag_resource", ResourceId=identity, TagKeys=dropped)
        if added := {key: value for key, value in after.items() if before.get(key) != value}:
            call.efs("tag_resource", ResourceId=identity, Tags=tag_list(added))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteFileSystem, then wait until it is gone."""
        gone(lambda: call.efs("delete_file_system", FileSystemId=identity), _NO_SHARE)
        call.wait(
            lambda: True if _share(call, identity) is None else None,
            doing=f"waiting for EFS File System ({identity}) delete",
        )

    @staticmethod
    def _available(call: Call, identity: str) -> bool | None:
        """Whether it can be mounted; None when not yet."""
        share = _share(call, identity)
        return True if share is not None and share["LifeCycleState"] == "available" else None


class MountTarget:
    """aws:efs/mountTarget:MountTarget."""

    noun = "EFS Mount Target"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateMountTarget, then wait until it answers."""
        made = call.efs(
            "create_mount_target",
            FileSystemId=inputs["fileSystemId"],
            SubnetId=inputs["subnetId"],
            IpAddress=inputs.get("ipAddress"),
            SecurityGroups=inputs.get("securityGroups"),
        )
        identity = str(made["MountTargetId"])
        call.made = identity
        call.wait(lambda: self._available(call, identity), doing=f"waiting for EFS Mount Target ({identity}) create")

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeMountTargets and its security groups."""
        target = _target(call, identity)
        if target is None:
            return None
        share = str(target["FileSystemId"])
        groups = call.efs("describe_mount_target_security_groups", MountTargetId=identity)["SecurityGroups"]
        host = f"{share}.efs.{call.region}.amazonaws.com"
        return {
            "availabilityZoneId": target["AvailabilityZoneId"],
            "availabilityZoneName": target["AvailabilityZoneName"],
            "dnsName": host,
            "fileSystemArn": call.arn("elasticfilesystem", f"file-system/{share}"),
            "fileSystemId": share,
            "ipAddress": target["IpAddress"],
            "mountTargetDnsName": f"{target['AvailabilityZoneName']}.{host}",
            "networkInterfaceId": target["NetworkInterfaceId"],
            "ownerId": target["OwnerId"],
            "securityGroups": groups,
            "subnetId": target["SubnetId"],
            "region": call.region,
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """ModifyMountTargetSecurityGroups."""
        if changed("securityGroups", olds, news):
            call.efs(
                "modify_mount_target_security_groups", MountTargetId=identity, SecurityGroups=news["securityGroups"]
            )

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteMountTarget, then wait until it is gone."""
        gone(lambda: call.efs("delete_mount_target", MountTargetId=identity), _NO_TARGET)
        call.wait(
            lambda: True if _target(call, identity) is None else None,
            doing=f"waiting for EFS Mount Target ({identity}) delete",
        )

    @staticmethod
    def _available(call: Call, identity: str) -> bool | None:
        """Whether it answers; None when not yet."""
        target = _target(call, identity)
        return True if target is not None and target["LifeCycleState"] == "available" else None


def _share(call: Call, identity: str) -> Mapping[str, Any] | None:
    """Return a file system as AWS describes it; None when it is gone."""
    found = absent(lambda: call.efs("describe_file_systems", FileSystemId=identity)["FileSystems"], _NO_SHARE)
    return found[0] if found and found[0]["LifeCycleState"] != "deleted" else None


def _target(call: Call, identity: str) -> Mapping[str, Any] | None:
    """Return a mount target as AWS describes it; None when it is gone."""
    found = absent(lambda: call.efs("describe_mount_targets", MountTargetId=identity)["MountTargets"], _NO_TARGET)
    return found[0] if found and found[0]["LifeCycleState"] != "deleted" else None
