"""State files in a bucket of S3, and the same questions to a folder: the answers are the same."""

from pathlib import Path
from typing import Any

import pytest

from gpuprov.cloud.bucket_files import BucketFiles
from gpuprov.cloud.files import LocalFiles, StateFiles
from gpuprov.model.diagnostic import GpuprovError

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

STACK = ".pulumi/stacks/gpuprov-aws/train.json"


@pytest.fixture(params=["a folder", "a bucket", "a bucket with a prefix"])
def files(request: pytest.FixtureRequest, tmp_path: Path, cloud: Any, s3: Any) -> StateFiles:
    if request.param == "a folder":
        return LocalFiles(tmp_path)
    s3.create_bucket(Bucket="states")
    return BucketFiles(cloud(), "states", "gpu/train" if "prefix" in request.param else "")


def test_what_is_written_is_read_listed_and_removed(files: StateFiles) -> None:
    assert (files.read(STACK), files.changed(STACK), files.names("backups/train")) == (None, None, ())
    files.write(STACK, "{}")
    for name in ("b", "a"):
        files.write(f"backups/train/{name}.json", name)
    files.write("backups/train/deeper/c.json", "c")
    files.write("backups/train-image-x/d.json", "d")
    assert files.names("backups/train") == ("backups/train/a.json", "backups/train/b.json")
    assert files.read("backups/train/b.json") == b"b"
    assert (files.changed(STACK) or 0) > 1.7e9
    files.write(STACK, "[]")
    assert files.read(STACK) == b"[]"
    files.remove(STACK)
    files.remove(STACK)
    assert files.read(STACK) is None
    assert files.names("backups/train")


def test_the_engines_files_lie_where_the_engine_looks_and_ours_apart(cloud: Any, s3: Any) -> None:
    s3.create_bucket(Bucket="states")
    files = BucketFiles(cloud(), "states", "gpu")
    files.write(STACK, "{}")
    files.write("backups/train/a.json", "{}")
    keys = [row["Key"] for row in s3.list_objects_v2(Bucket="states")["Contents"]]
    assert keys == ["gpu/.gpuprov/backups/train/a.json", f"gpu/{STACK}"]
    assert files.shown(STACK) == f"s3://states/gpu/{STACK}"
    assert files.backend == "s3://states/gpu"


def test_the_engine_is_told_the_buckets_own_region(cloud: Any, s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    place = {"LocationConstraint": "eu-west-1"}
    s3.create_bucket(Bucket="far", CreateBucketConfiguration=place)
    assert BucketFiles(cloud(), "far", "").url == "s3://far/?region=eu-west-1&awssdk=v2&use_path_style=true"
    files = BucketFiles(cloud(), "far", "gpu/train")
    assert files.url.startswith("s3://far/gpu/train/?region=eu-west-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    assert "use_path_style" not in files.url


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("ask", ["read", "names", "write", "url"])
def test_a_bucket_that_is_not_there_is_told_with_the_way_to_make_it(cloud: Any, ask: str) -> None:
    files = BucketFiles(cloud(), "missing", "x")
    questions = {
        "read": lambda: files.read(STACK),
        "names": lambda: files.names("backups/train"),
        "write": lambda: files.write(STACK, "{}"),
        "url": lambda: files.url,
    }
    with pytest.raises(GpuprovError) as error:
        questions[ask]()
    (told,) = error.value.diagnostics
    assert (told.code, told.address) == ("GP-CLOUD-062", "targets.cloud.state.backend")
    assert "create-bucket --bucket missing" in told.hint
