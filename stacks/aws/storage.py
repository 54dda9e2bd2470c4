"""What keeps data: private buckets and encrypted volumes."""

import json

import pulumi
from document import Bucket, Volume
from pulumi_aws import ebs, s3


def make_bucket(bucket: Bucket) -> s3.Bucket:
    """Make a bucket that is private, encrypted and versioned, and speaks TLS only."""
    name = bucket["name"]
    made = s3.Bucket(
        f"bucket.{name}", bucket=bucket["bucket"], force_destroy=bucket["force_destroy"], tags=bucket["tags"]
    )
    closed = s3.BucketPublicAccessBlock(
        f"bucket_public_access_block.{name}",
        bucket=made.id,
        block_public_acls=True,
        block_public_policy=True,
        ignore_public_acls=True,
        restrict_public_buckets=True,
    )
    s3.BucketOwnershipControls(
        f"bucket_ownership.{name}", bucket=made.id, rule={"object_ownership": "BucketOwnerEnforced"}
    )
    s3.BucketServerSideEncryptionConfiguration(
        f"bucket_encryption.{name}",
        bucket=made.id,
        rules=[{"apply_server_side_encryption_by_default": {"sse_algorithm": "AES256"}}],
    )
    versioned = s3.BucketVersioning(
        f"bucket_versioning.{name}", bucket=made.id, versioning_configuration={"status": "Enabled"}
    )
    # S3 answers two settings of one bucket at a time with a conflict; the slow ones come one after the other.
    s3.BucketPolicy(
        f"bucket_policy.{name}",
        bucket=made.id,
        policy=json.dumps(bucket["policy"], sort_keys=True),
        opts=pulumi.ResourceOptions(depends_on=[closed]),
    )
    s3.BucketLifecycleConfiguration(
        f"bucket_lifecycle.{name}",
        bucket=made.id,
        rules=[
            {
                "id": "unfinished-uploads",
                "status": "Enabled",
                "filter": {"prefix": ""},
                "abort_incomplete_multipart_upload": {"days_after_initiation": bucket["unfinished_days"]},
            }
        ],
        opts=pulumi.ResourceOptions(depends_on=[versioned]),
    )
    return made


def make_volume(volume: Volume) -> ebs.Volume:
    """Make an encrypted gp3 volume."""
    return ebs.Volume(
        f"volume.{volume['name']}",
        availability_zone=volume["zone"],
        size=volume["size_gib"],
        type="gp3",
        iops=volume["iops"],
        throughput=volume["throughput"],
        encrypted=True,
        tags=volume["tags"],
    )
