"""With the real engine: a stack whose state is in a bucket of S3 and whose secrets are under a key of KMS."""

import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import engine_plugin
import pytest
from stack_documents import document

from gpuprov.cloud.bucket_files import BucketFiles
from gpuprov.cloud.engine import find_engine
from gpuprov.cloud.stack import CloudStack
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.progress import ignore_progress

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
KEY = "awskms://alias/gpuprov"


@pytest.fixture(autouse=True)
def _leftovers() -> Iterator[None]:
    yield
    gc.collect()


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "account").mkdir()
    command = (sys.executable, engine_plugin.__file__, str(tmp_path / "account"))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield int(process.stdout.readline())
    process.kill()
    process.communicate()


def test_two_machines_share_a_state_in_a_bucket_under_a_key(
    plugin: int, tmp_path: Path, aws: str, cloud: Any, s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.create_bucket(Bucket="states")
    kms = boto3.client("kms", region_name="us-east-1", endpoint_url=aws)
    kms.create_alias(AliasName="alias/gpuprov", TargetKeyId=kms.create_key()["KeyMetadata"]["KeyId"])
    # The trap: the engine would take this one, and encrypt the state anew with it.
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "something else")
    asked = document("train-a", volumes=("scratch/train-a",))

    def machine(name: str, **other: Any) -> StackPlace:
        given = {"bucket": BucketFiles(cloud(), "states", "gpu/train"), "secrets": KEY, **other}
        environment = {"PULUMI_DEBUG_PROVIDERS": f"aws:{plugin}", "AWS_REGION": "us-east-1"}
        return StackPlace(name="train", folder=tmp_path / name, environment=environment, region="us-east-1", **given)

    engine = find_engine(os.environ)
    first, second = CloudStack(machine("one"), engine), CloudStack(machine("two"), engine)
    applied = first.apply(asked, report=ignore_progress)
    assert applied.diagnostics == ()

    def providers() -> dict[str, Any]:
        text = s3.get_object(Bucket="states", Key="gpu/train/.pulumi/stacks/gpuprov-aws/train.json")["Body"].read()
        found: dict[str, Any] = json.loads(text)["checkpoint"]["latest"]["secrets_providers"]
        return found

    kept = providers()
    assert (kept["type"], kept["state"]["url"].partition("?")[0]) == ("cloud", KEY)

    assert [host.name for host in second.state().made.hosts] == ["train-a"]
    assert second.preview(asked, report=ignore_progress).empty
    grown = document("train-a", "train-b", volumes=("scratch/train-a",))
    second.preview(grown, report=ignore_progress)
    assert [c.address for c in second.apply(grown, report=ignore_progress).changed] == ["instance.train-b"]
    assert providers() == kept
    assert first.preview(grown, report=ignore_progress).empty
    assert not (tmp_path / "one" / "passphrase").exists()
    keys = [row["Key"] for row in s3.list_objects_v2(Bucket="states", Prefix="gpu/train/.gpuprov/")["Contents"]]
    assert all(key.startswith("gpu/train/.gpuprov/backups/train/") for key in keys)

    with pytest.raises(GpuprovError) as error:
        CloudStack(machine("two", secrets="passphrase"), engine).preview(grown, report=ignore_progress)
    assert error.value.diagnostics[0].code == "GP-CLOUD-061"
    with pytest.raises(GpuprovError) as error:
        CloudStack(machine("two", bucket=None), engine).preview(grown, report=ignore_progress)
    assert error.value.diagnostics[0].code == "GP-CLOUD-060"
    with pytest.raises(GpuprovError) as error:
        CloudStack(machine("two", bucket=BucketFiles(cloud(), "states", "b")), engine).apply(
            grown, report=ignore_progress
        )
    assert error.value.diagnostics[0].code == "GP-CLOUD-060"
    lock = "gpu/train/.pulumi/locks/organization/gpuprov-aws/train/1.json"
    holder = {"pid": 1, "username": "ana", "hostname": "elsewhere", "timestamp": "2026-11-30T02:04:42Z"}
    s3.put_object(Bucket="states", Key=lock, Body=json.dumps(holder).encode())
    last = CloudStack(machine("one"), engine)
    with pytest.raises(GpuprovError) as error:
        last.apply(document(), report=ignore_progress)
    (told,) = error.value.diagnostics
    assert (told.code, told.detail) == ("GP-CLOUD-011", f"its lock file: s3://states/{lock}")
    s3.delete_object(Bucket="states", Key=lock)
    last.apply(document(), report=ignore_progress)
    second.remove(report=ignore_progress)
    assert not first.state().exists
