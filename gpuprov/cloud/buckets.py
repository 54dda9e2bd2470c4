"""Emptying a bucket, which S3 asks for before it can be deleted."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from gpuprov.cloud.aws_errors import code_of
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report

_AT_ONCE: Final = 1000
"""Keys in one DeleteObjects request (Amazon S3 API Reference)."""
_SHOWN: Final = 5


def empty(s3: Any, name: str, *, report: Report) -> int:
    """Delete everything in a bucket; see `Account.empty_bucket`. One that an earlier run deleted already is empty.

    Raises:
        GpuprovError: GP-CLOUD-010 with the objects that could not be deleted (object lock, a policy).
    """
    try:
        return _emptied(s3, name, report)
    except s3.exceptions.ClientError as error:
        if code_of(error) != "NoSuchBucket":
            raise
        return 0


def _emptied(s3: Any, name: str, report: Report) -> int:
    removed = 0
    for upload in _uploads(s3, name):
        s3.abort_multipart_upload(Bucket=name, Key=upload["Key"], UploadId=upload["UploadId"])
        removed += 1
    versions = _versions(s3, name)
    while some := list(islice(versions, _AT_ONCE)):
        answer = s3.delete_objects(Bucket=name, Delete={"Objects": some, "Quiet": True})
        errors = answer.get("Errors", ())
        if errors:
            raise GpuprovError(_refused(name, errors))
        removed += len(some)
        report(Progress(phase="empty", subject=name, text=f"{removed} object versions deleted"))
    return removed


def _versions(s3: Any, name: str) -> Iterator[dict[str, str]]:
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=name):
        for row in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
            yield {"Key": row["Key"], "VersionId": row["VersionId"]}


def _uploads(s3: Any, name: str) -> Iterator[dict[str, Any]]:
    for page in s3.get_paginator("list_multipart_uploads").paginate(Bucket=name):
        yield from page.get("Uploads", ())


def _refused(name: str, errors: Iterable[dict[str, str]]) -> Diagnostic:
    rows = list(errors)
    lines = [f"{row.get('Key')} ({row.get('VersionId', 'null')}): {row.get('Message')}" for row in rows[:_SHOWN]]
    return Diagnostic(
        code="GP-CLOUD-010",
        address=name,
        summary=f"{len(rows)} objects of the bucket could not be deleted ({rows[0].get('Code')})",
        detail="\n".join(lines),
        hint="object lock, a legal hold or a bucket policy may forbid it; the bucket is left as it is",
    )
