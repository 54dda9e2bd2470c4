"""What is set on a bucket by a resource of its own; their ids are the bucket's name, as in the real provider."""
# ruff: noqa: ARG002 (each handler takes what the protocol in handler.py gives it)

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from gpuprov.lab.aws.plugin.cloud import Call, absent, gone
from gpuprov.lab.aws.plugin.resources.handler import Known, Values

_BLOCKS = {
    "blockPublicAcls": "BlockPublicAcls",
    "blockPublicPolicy": "BlockPublicPolicy",
    "ignorePublicAcls": "IgnorePublicAcls",
    "restrictPublicBuckets": "RestrictPublicBuckets",
}
_GONE = (
    "NoSuchBucket",
    "NoSuchPublicAccessBlockConfiguration",
    "OwnershipControlsNotFoundError",
    "ServerSideEncryptionConfigurationNotFoundError",
    "NoSuchBucketPolicy",
    "NoSuchLifecycleConfiguration",
)


class _Setting(ABC):
    """A setting that one Put call writes, for the first time and every other time."""

    noun = ""

    def create(self, call: Call, inputs: Known) -> None:
        """Put it."""
        self.put(call, inputs["bucket"], inputs)
        call.made = inputs["bucket"]

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """Put it again."""
        self.put(call, identity, news)

    @abstractmethod
    def put(self, call: Call, bucket: str, inputs: Known) -> None:
        """Write the setting."""


class PublicAccessBlock(_Setting):
    """aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock."""

    noun = "S3 Bucket Public Access Block"

    def put(self, call: Call, bucket: str, inputs: Known) -> None:
        """PutPublicAccessBlock."""
        blocks = {argument: inputs[name] for name, argument in _BLOCKS.items()}
        call.s3("put_public_access_block", Bucket=bucket, PublicAccessBlockConfiguration=blocks)

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """GetPublicAccessBlock."""
        found = absent(lambda: call.s3("get_public_access_block", Bucket=identity), _GONE)
        if found is None:
            return None
        blocks = found["PublicAccessBlockConfiguration"]
        shown = {name: bool(blocks.get(argument)) for name, argument in _BLOCKS.items()}
        return {"bucket": identity, "region": call.region, **shown}

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeletePublicAccessBlock, or leave it where that is asked for."""
        if not known.get("skipDestroy"):
            gone(lambda: call.s3("delete_public_access_block", Bucket=identity), _GONE)


class OwnershipControls(_Setting):
    """aws:s3/bucketOwnershipControls:BucketOwnershipControls."""

    noun = "S3 Bucket Ownership Controls"

    def put(self, call: Call, bucket: str, inputs: Known) -> None:
        """PutBucketOwnershipControls."""
        rules = [{"ObjectOwnership": inputs["rule"]["objectOwnership"]}]
        call.s3("put_bucket_ownership_controls", Bucket=bucket, OwnershipControls={"Rules": rules})

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """GetBucketOwnershipControls."""
        found = absent(lambda: call.s3("get_bucket_ownership_controls", Bucket=identity), _GONE)
        if found is None:
            return None
        rule = found["OwnershipControls"]["Rules"][0]
        return {"bucket": identity, "region": call.region, "rule": {"objectOwnership": rule["ObjectOwnership"]}}

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteBucketOwnershipControls."""
        gone(lambda: call.s3("delete_bucket_ownership_controls", Bucket=identity), _GONE)


class Encryption(_Setting):
    """aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration."""

    noun = "S3 Bucket Server-side Encryption Configuration"

    def put(self, call: Call, bucket: str, inputs: Known) -> None:
        """PutBucketEncryption."""
        rules = []
        for rule in inputs["rules"]:
            default = rule.get("applyServerSideEncryptionByDefault")
            given = {"SSEAlgorithm": default["sseAlgorithm"]} if default else {}
            if default and default.get("kmsMasterKeyId"):
                given["KMSMasterKeyID"] = default["kmsMasterKeyId"]
            rules.append(
                {"ApplyServerSideEncryptionByDefault": given, "BucketKeyEnabled": bool(rule.get("bucketKeyEnabled"))}
            )
        call.s3("put_bucket_encryption", Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": rules})

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """GetBucketEncryption."""
        found = absent(lambda: call.s3("get_bucket_encryption", Bucket=identity), _GONE)
        if found is None:
            return None
        rules = []
        for rule in found["ServerSideEncryptionConfiguration"]["Rules"]:
            default = rule.get("ApplyServerSideEncryptionByDefault", {})
            shown: Values = {"sseAlgorithm": default.get("SSEAlgorithm")}
            if default.get("KMSMasterKeyID"):
                shown["kmsMasterKeyId"] = default["KMSMasterKeyID"]
            rules.append(
                {
                    "applyServerSideEncryptionByDefault": shown,
                    "bucketKeyEnabled": _truth(rule.get("BucketKeyEnabled", False)),
                }
            )
        return {"bucket": identity, "region": call.region, "rules": rules}

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteBucketEncryption."""
        gone(lambda: call.s3("delete_bucket_encryption", Bucket=identity), _GONE)


class Versioning(_Setting):
    """aws:s3/bucketVersioning:BucketVersioning."""

    noun = "S3 Bucket Versioning"

    def put(self, call: Call, bucket: str, inputs: Known) -> None:
        """PutBucketVersioning; "Disabled" is the provider's word for a bucket that never had it."""
        status = inputs["versioningConfiguration"]["status"]
        if status != "Disabled":
            call.s3("put_bucket_versioning", Bucket=bucket, VersioningConfiguration={"Status": status})

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """GetBucketVersioning."""
        found = absent(lambda: call.s3("get_bucket_versioning", Bucket=identity), _GONE)
        if found is None:
            return None
        status = {"status": found.get("Status", "Disabled")}
        return {"bucket": identity, "region": call.region, "versioningConfiguration": status}

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """Suspend: versioning cannot be taken away again."""
        if known["versioningConfiguration"]["status"] == "Disabled":
            return
        suspended = {"Status": "Suspended"}
        gone(lambda: call.s3("put_bucket_versioning", Bucket=identity, VersioningConfiguration=suspended), _GONE)


class BucketPolicy(_Setting):
    """aws:s3/bucketPolicy:BucketPolicy."""

    noun = "S3 Bucket Policy"

    def put(self, call: Call, bucket: str, inputs: Known) -> None:
        """PutBucketPolicy."""
        call.s3("put_bucket_policy", Bucket=bucket, Policy=inputs["policy"])

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """GetBucketPolicy."""
        found = absent(lambda: call.s3("get_bucket_policy", Bucket=identity)["Policy"], _GONE)
        if found is None:
            return None
        policy = known.get("policy")
        if not policy or json.loads(policy) != json.loads(found):
            policy = found
        return {"bucket": identity, "region": call.region, "policy": policy}

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteBucketPolicy."""
        gone(lambda: call.s3("delete_bucket_policy", Bucket=identity), _GONE)


class Lifecycle(_Setting):
    """aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration."""

    noun = "S3 Bucket Lifecycle Configuration"

    def put(self, call: Call, bucket: str, inputs: Known) -> None:
        """PutBucketLifecycleConfiguration."""
        rules = [_to_api(rule) | {"Filter": _to_api(rule.get("filter", {"prefix": ""}))} for rule in inputs["rules"]]
        call.s3("put_bucket_lifecycle_configuration", Bucket=bucket, LifecycleConfiguration={"Rules": rules})

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """GetBucketLifecycleConfiguration."""
        found = absent(lambda: call.s3("get_bucket_lifecycle_configuration", Bucket=identity)["Rules"], _GONE)
        if found is None:
            return None
        return {"bucket": identity, "region": call.region, "rules": [_from_api(rule) for rule in found]}

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteBucketLifecycle."""
        gone(lambda: call.s3("delete_bucket_lifecycle", Bucket=identity), _GONE)


_LIFECYCLE_NAMES = {"id": "ID", "noncurrentVersionTransitions": "NoncurrentVersionTransitions"}
_LIFECYCLE_WORDS = {word: name for name, word in _LIFECYCLE_NAMES.items()}


def _to_api(value: Any) -> Any:
    """Return a lifecycle rule under S3's names: the provider's with a great first letter, but for a few."""
    if isinstance(value, list):
        return [_to_api(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        _LIFECYCLE_NAMES.get(name, name[0].upper() + name[1:]): (
            [{"Key": key, "Value": text} for key, text in member.items()] if name == "tags" else _to_api(member)
        )
        for name, member in value.items()
    }


def _from_api(value: Any) -> Any:
    """Return a lifecycle rule under the provider's names."""
    if isinstance(value, list):
        return [_from_api(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        _LIFECYCLE_WORDS.get(name, name[0].lower() + name[1:]): (
            {each["Key"]: each["Value"] for each in member} if name == "Tags" else _from_api(member)
        )
        for name, member in value.items()
    }


def _truth(value: Any) -> bool:
    """Read a truth that may have come as text: moto answers `BucketKeyEnabled` as it was sent."""
    return value is True or str(value).lower() == "true"
