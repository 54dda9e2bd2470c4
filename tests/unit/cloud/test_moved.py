"""A backend that was changed in the spec must not begin an empty stack while the old one stands."""

from pathlib import Path

import pytest
from state_files import state_file

from gpuprov.cloud.files import LocalFiles
from gpuprov.cloud.moved import forget_backend, record_backend, refuse_moved
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import GpuprovError


class Bucket(LocalFiles):
    """A bucket, as far as this goes."""

    def __init__(self, folder: Path, backend: str) -> None:
        super().__init__(folder)
        self._backend = backend

    @property
    def backend(self) -> str:
        return self._backend


def place(folder: Path, bucket: str = "") -> StackPlace:
    files = Bucket(folder / bucket, f"s3://{bucket}/x") if bucket else None
    return StackPlace(name="train", folder=folder / "cloud", environment={}, region="us-east-1", bucket=files)


def refused(where: StackPlace) -> str:
    with pytest.raises(GpuprovError) as error:
        refuse_moved(where)
    (told,) = error.value.diagnostics
    assert told.code == "GP-CLOUD-060"
    return told.hint


def test_nothing_is_refused_before_there_is_a_stack(tmp_path: Path) -> None:
    refuse_moved(place(tmp_path))
    refuse_moved(place(tmp_path, "a"))


def test_from_files_to_a_bucket_and_between_buckets(tmp_path: Path) -> None:
    first = state_file(place(tmp_path))
    first.parent.mkdir(parents=True)
    first.write_text("{}")
    hint = refused(place(tmp_path, "a"))
    assert f"--recursive {tmp_path}/cloud/state/.pulumi s3://a/x/.pulumi`" in hint
    refuse_moved(place(tmp_path))
    # Copied there, it is as good.
    place(tmp_path, "a").files.write(".pulumi/stacks/gpuprov-aws/train.json", "{}")
    refuse_moved(place(tmp_path, "a"))
    record_backend(place(tmp_path, "a"))
    assert "write `backend: s3://a/x` back" in refused(place(tmp_path, "b"))


def test_from_a_bucket_to_files_and_after_the_stack_is_gone(tmp_path: Path) -> None:
    record_backend(place(tmp_path, "a"))
    assert f"s3://a/x/.pulumi {tmp_path}/cloud/state/.pulumi`" in refused(place(tmp_path))
    refuse_moved(place(tmp_path, "a"))
    forget_backend(place(tmp_path, "a"))
    refuse_moved(place(tmp_path))
