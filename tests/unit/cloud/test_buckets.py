from typing import Any

import pytest
from botocore.stub import Stubber

from gpuprov.cloud import buckets
from gpuprov.cloud.account import Account
from gpuprov.model.diagnostic import GpuprovError

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


def test_versions_marks_and_unfinished_uploads_go(account: Account, s3: Any) -> None:
    s3.create_bucket(Bucket="bucket")
    s3.put_bucket_versioning(Bucket="bucket", VersioningConfiguration={"Status": "Enabled"})
    for text in (b"one", b"two"):
        s3.put_object(Bucket="bucket", Key="k", Body=text)
    s3.delete_object(Bucket="bucket", Key="k")
    s3.put_object(Bucket="bucket", Key="runs/x", Body=b"")
    s3.create_multipart_upload(Bucket="bucket", Key="big")
    assert account.empty_bucket("bucket") == 5
    s3.delete_bucket(Bucket="bucket")


def test_more_objects_than_one_request_takes(account: Account, s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "_AT_ONCE", 3)
    s3.create_bucket(Bucket="bucket")
    for number in range(7):
        s3.put_object(Bucket="bucket", Key=f"k{number}", Body=b"")
    assert account.empty_bucket("bucket") == 7
    assert "Contents" not in s3.list_objects_v2(Bucket="bucket")


def test_a_bucket_that_an_earlier_run_deleted_is_empty(account: Account) -> None:
    assert account.empty_bucket("nowhere") == 0


def test_an_object_that_may_not_be_deleted_is_named(s3: Any) -> None:
    with Stubber(s3) as stub:
        stub.add_response("list_multipart_uploads", {})
        stub.add_response("list_object_versions", {"Versions": [{"Key": "k", "VersionId": "v"}]})
        error = {"Key": "k", "VersionId": "v", "Code": "AccessDenied", "Message": "Access Denied by object lock"}
        stub.add_response("delete_objects", {"Errors": [error]})
        with pytest.raises(GpuprovError) as caught:
            buckets.empty(s3, "bucket", report=lambda _: None)
    found = caught.value.diagnostics[0]
    assert (found.code, found.address) == ("GP-CLOUD-010", "bucket")
    assert "k (v): Access Denied by object lock" in found.detail
