"""What an operator may do in S3: with the spec's buckets, by their names; with their content nothing, unless asked."""

from collections.abc import Iterator
from typing import Final

from gpuprov.cloud.decide.grants import Grant, Ground, each

_P: Final = "s3:"
_STACK: Final = "preview up destroy import"
_SETTINGS: Final = (
    "PutBucketOwnershipControls PutBucketPolicy PutBucketPublicAccessBlock PutBucketVersioning"
    " PutEncryptionConfiguration PutLifecycleConfiguration"
)


def s3_grants(ground: Ground) -> Iterator[Grant]:
    """Every grant in S3; none without a bucket."""
    if not ground.buckets:
        return
    arns = [f"arn:{ground.partition}:s3:::{name}" for name in ground.buckets]
    buckets = dict.fromkeys(arns, _STACK)
    yield Grant(
        sid="LookAtBuckets",
        actions=each(
            _STACK,
            "GetBucketOwnershipControls GetBucketPolicy GetBucketPublicAccessBlock GetBucketTagging"
            " GetBucketVersioning GetEncryptionConfiguration GetLifecycleConfiguration ListBucket",
            prefix=_P,
        )
        | each("import", "GetBucketLocation", prefix=_P),
        resources=buckets,
    )
    yield Grant(
        sid="LookAtBucketsAsTheProvider",
        actions=each(
            _STACK,
            "GetAccelerateConfiguration GetBucketAcl GetBucketCORS GetBucketLogging"
            " GetBucketObjectLockConfiguration GetBucketRequestPayment GetBucketWebsite GetReplicationConfiguration",
            prefix=_P,
        ),
        resources=buckets,
        unproved="hashicorp/terraform-provider-aws, internal/service/s3/bucket.go (resourceBucketRead)",
    )
    deleting = "up destroy" if ground.delete_data else ""
    # Taking a setting away is the right to write it, but for the policy (S3 API Reference, DeleteBucketEncryption ...).
    yield Grant(
        sid="KeepBuckets",
        actions=each("up", f"CreateBucket {_SETTINGS}", prefix=_P)
        | each("up import", "PutBucketTagging", prefix=_P)
        | (each(deleting, f"{_SETTINGS} DeleteBucket DeleteBucketPolicy", prefix=_P) if deleting else {}),
        resources=buckets,
    )
    if deleting:
        yield Grant(
            sid="ListWhatIsDeleted",
            actions=each("destroy", "ListBucketMultipartUploads ListBucketVersions", prefix=_P),
            resources=buckets,
        )
        yield Grant(
            sid="DeleteData",
            actions=each("destroy", "AbortMultipartUpload DeleteObject DeleteObjectVersion", prefix=_P),
            resources={f"{arn}/*": "destroy" for arn in arns},
        )
