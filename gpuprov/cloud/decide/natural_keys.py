"""How a resource that an interrupted run left behind is found in the account: by its tag, or by what it joins."""

import re
from collections.abc import Mapping
from typing import Final

from gpuprov.cloud.decide.tags import ID

NATURAL_KEYS: Final[Mapping[str, str]] = {
    # Where the provider imports by a key of this form, it is that form (pulumi_aws 7.51, sections Import).
    "aws:iam/rolePolicy:RolePolicy": "{role}:{name}",
    "aws:ec2/route:Route": "{routeTableId}_{destinationCidrBlock}",
    "aws:ec2/routeTableAssociation:RouteTableAssociation": "{subnetId}/{routeTableId}",
    "aws:ec2/volumeAttachment:VolumeAttachment": "{deviceName}:{volumeId}:{instanceId}",
    # The provider imports it by its id alone, which AWS makes up; there is one for each subnet.
    "aws:efs/mountTarget:MountTarget": "{fileSystemId}/{subnetId}",
    # Settings of a bucket: the bucket's name is the id of each.
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": "{bucket}",
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": "{bucket}",
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": "{bucket}",
    "aws:s3/bucketVersioning:BucketVersioning": "{bucket}",
    "aws:s3/bucketPolicy:BucketPolicy": "{bucket}",
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": "{bucket}",
}
"""Type token -> form of the key over the resource's own inputs, for the types that take no tags."""

UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What Pulumi writes for a value that is not known yet (pulumi/pulumi, sdk/python runtime/rpc.py, 3.272)."""

_FIELD: Final = re.compile(r"\{(\w+)\}")


def recovery_key(type_token: str, inputs: Mapping[str, object]) -> str | None:
    """The key by which a resource is looked up in the account.

    Args:
        type_token: such as `aws:ec2/instance:Instance`.
        inputs: the resource's inputs as the state holds them.

    Returns:
        The natural key where the type has one, else the value of the tag `gpuprov:id`; None when the inputs hold
        neither, because the run was cut before they were known.
    """
    form = NATURAL_KEYS.get(type_token)
    if form is None:
        tagged = inputs.get("tags")
        found = tagged.get(ID) if isinstance(tagged, Mapping) else None
        return found if isinstance(found, str) and found else None
    values = {field: inputs.get(field) for field in _FIELD.findall(form)}
    if not all(isinstance(value, str) and value not in {"", UNKNOWN} for value in values.values()):
        return None
    return form.format_map(values)
