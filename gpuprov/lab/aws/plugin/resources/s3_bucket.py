"""S3 bucket."""
# ruff: noqa: ARG002 (each handler takes what the protocol in handler.py gives it)

from typing import Any

from gpuprov.lab.aws.plugin.cloud import Call, absent, gone, tag_list, tag_map
from gpuprov.lab.aws.plugin.resources.handler import Known, Values, changed, tag_outputs

NO_BUCKET = ("NoSuchBucket", "404", "NoSuchTagSet")
_HOME = "us-east-1"
"""The one region that CreateBucket must not name."""


class Bucket:
    """aws:s3/bucket:Bucket."""

    noun = "S3 Bucket"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateBucket, then PutBucketTagging, as the real provider does: a bucket takes no tags when it is made."""
        name = inputs["bucket"]
        place = {"LocationConstraint": call.region} if call.region != _HOME else None
        call.s3("create_bucket", Bucket=name, CreateBucketConfiguration=place)
        call.made = name
        if inputs.get("tags"):
            self._tag(call, name, inputs["tags"])

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """HeadBucket and GetBucketTagging."""
        if absent(lambda: call.s3("head_bucket", Bucket=identity), NO_BUCKET) is None:
            return None
        tags = absent(lambda: call.s3("get_bucket_tagging", Bucket=identity)["TagSet"], NO_BUCKET)
        return {
            "arn": f"arn:aws:s3:::{identity}",
            "bucket": identity,
            "bucketPrefix": "",
            "bucketDomainName": f"{identity}.s3.amazonaws.com",
            "bucketRegion": call.region,
            "bucketRegionalDomainName": f"{identity}.s3.{call.region}.amazonaws.com",
            "region": call.region,
            **tag_outputs(tag_map(tags)),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """Tags."""
        if not changed("tags", olds, news):
            return
        if news.get("tags"):
            self._tag(call, identity, news["tags"])
        else:
            call.s3("delete_bucket_tagging", Bucket=identity)

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteBucket, after emptying it where `forceDestroy` says so; AWS refuses one that holds objects."""
        if known.get("forceDestroy"):
            for entry in _versions(call, identity):
                call.s3("delete_object", Bucket=identity, **entry)
        gone(lambda: call.s3("delete_bucket", Bucket=identity), NO_BUCKET)

    @staticmethod
    def _tag(call: Call, name: str, tags: dict[str, str]) -> None:
        """Set all tags."""
        call.s3("put_bucket_tagging", Bucket=name, Tagging={"TagSet": tag_list(tags)})


def _versions(call: Call, bucket: str) -> list[dict[str, Any]]:
    """Return key and version of everything that a bucket holds, delete markers too."""
    found: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        page = absent(lambda after=after: call.s3("list_object_versions", Bucket=bucket, **after), NO_BUCKET)  # type: ignore[misc]
        found += [
            {"Key": each["Key"], "VersionId": each["VersionId"]}
            for each in ([*page.get("Versions", []), *page.get("DeleteMarkers", [])] if page else ())
        ]
        if not page or not page.get("IsTruncated"):
            return found
        after = {"KeyMarker": page["NextKeyMarker"], "VersionIdMarker": page["NextVersionIdMarker"]}
