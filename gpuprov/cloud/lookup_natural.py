"""Finding resources that take no tags: by what they belong to, or by what they join.

The forms of the keys are those of `decide/natural_keys.py`; the ids are those that the AWS provider gives
(terraform-provider-aws: `routeCreateID`, `volumeAttachmentID`; its section Import for the others).
"""

import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gpuprov.cloud.aws_errors import code_of

Client = Callable[[str], Any]
"""Service name -> boto3 client."""

_GONE: Final = frozenset({"NoSuchEntity", "NoSuchBucket", "404"})
_LEAVING: Final = frozenset({"deleting", "deleted"})
_ATTACHED: Final = frozenset({"attaching", "attached", "busy"})


def _role_policy(client: Client, key: str) -> Iterator[str]:
    role, _, name = key.partition(":")
    if _answer(client("iam"), _GONE, "get_role_policy", RoleName=role, PolicyName=name) is not None:
        yield key


def _route(client: Client, key: str) -> Iterator[str]:
    table, _, destination = key.partition("_")
    filters = [{"Name": "route-table-id", "Values": [table]}]
    for page in client("ec2").get_paginator("describe_route_tables").paginate(Filters=filters):
        for row in page["RouteTables"]:
            if any(route.get("DestinationCidrBlock") == destination for route in row["Routes"]):
                yield f"r-{table}{zlib.crc32(destination.encode())}"


def _route_table_association(client: Client, key: str) -> Iterator[str]:
    subnet, _, table = key.partition("/")
    filters = [{"Name": "association.subnet-id", "Values": [subnet]}]
    for page in client("ec2").get_paginator("describe_route_tables").paginate(Filters=filters):
        for row in page["RouteTables"]:
            for association in row["Associations"]:
                if (association.get("SubnetId"), association["RouteTableId"]) == (subnet, table):
                    yield association["RouteTableAssociationId"]


def _volume_attachment(client: Client, key: str) -> Iterator[str]:
    device, volume, instance = key.split(":")
    filters = [{"Name": "volume-id", "Values": [volume]}]
    for page in client("ec2").get_paginator("describe_volumes").paginate(Filters=filters):
        for row in page["Volumes"]:
            for attachment in row["Attachments"]:
                there = (attachment["Device"], attachment["InstanceId"])
                if there == (device, instance) and attachment["State"] in _ATTACHED:
                    yield f"vai-{zlib.crc32(f'{device}-{instance}-{volume}-'.encode())}"


def _mount_target(client: Client, key: str) -> Iterator[str]:
    share, _, subnet = key.partition("/")
    efs = client("efs")
    if _answer(efs, frozenset({"FileSystemNotFound"}), "describe_file_systems", FileSystemId=share) is None:
        return
    for page in efs.get_paginator("describe_mount_targets").paginate(FileSystemId=share):
        for row in page["MountTargets"]:
            if row["SubnetId"] == subnet and row["LifeCycleState"] not in _LEAVING:
                yield row["MountTargetId"]


def _setting(operation: str, missing: str) -> Callable[[Client, str], Iterator[str]]:
    """A setting of a bucket, whose id is the bucket's name."""

    def find(client: Client, key: str) -> Iterator[str]:
        answer = _answer(client("s3"), _GONE | {missing}, operation, Bucket=key)
        # A bucket without versioning answers, and says nothing.
        if answer is not None and (operation != "get_bucket_versioning" or answer.get("Status")):
            yield key

    return find


FINDERS: Final[Mapping[str, Callable[[Client, str], Iterator[str]]]] = {
    "aws:iam/rolePolicy:RolePolicy": _role_policy,
    "aws:ec2/route:Route": _route,
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _route_table_association,
    "aws:ec2/volumeAttachment:VolumeAttachment": _volume_attachment,
    "aws:efs/mountTarget:MountTarget": _mount_target,
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": _setting(
        "get_public_access_block", "NoSuchPublicAccessBlockConfiguration"
    ),
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": _setting(
        "get_bucket_ownership_controls", "OwnershipControlsNotFoundError"
    ),
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": _setting(
        "get_bucket_encryption", "ServerSideEncryptionConfigurationNotFoundError"
    ),
    "aws:s3/bucketVersioning:BucketVersioning": _setting("get_bucket_versioning", ""),
    "aws:s3/bucketPolicy:BucketPolicy": _setting("get_bucket_policy", "NoSuchBucketPolicy"),
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": _setting(
        "get_bucket_lifecycle_configuration", "NoSuchLifecycleConfiguration"
    ),
}
"""Type token -> how a natural key is looked up."""


def _answer(service: Any, missing: frozenset[str], operation: str, **request: str) -> Mapping[str, Any] | None:
    try:
        answer: Mapping[str, Any] = getattr(service, operation)(**request)
    except service.exceptions.ClientError as error:
        if code_of(error) not in missing:
            raise
        return None
    return answer
