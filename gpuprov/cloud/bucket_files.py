"""A stack's files in a bucket of S3, asked for as the spec's caller."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlencode

from gpuprov.cloud.aws_errors import code_of, translated
from gpuprov.cloud.credentials import CONFIG, open_session
from gpuprov.cloud.files import ENGINE
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.spec.cloud import CloudSpec

_OURS: Final = ".gpuprov/"
"""Begins the keys of gpuprov's own files, below the prefix."""
_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_ABSENT: Final = frozenset({"NoSuchKey", "404"})
_UNUSABLE: Final = frozenset({"404", "403"})
"""What HeadBucket answers, which has no body: no such bucket, not for this caller (S3 API Reference, 2026-11-30)."""


class BucketFiles:
    """Files in a bucket of S3, asked for as the spec's caller.

    Args:
        cloud: targets.cloud of the spec, whose state is in a bucket.
        bucket: its name.
        prefix: where in it; empty for its root.
    """

    def __init__(self, cloud: CloudSpec, bucket: str, prefix: str) -> None:
        self._cloud = cloud
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""

    @property
    def backend(self) -> str:
        """As the spec writes it, without a slash at its end."""
        return f"s3://{self._bucket}/{self._prefix}".rstrip("/")

    @property
    def url(self) -> str:
        """As the engine takes its backend; its own files lie below the prefix (engine 3.274.1, tried 2026-11-30)."""
        asked = {"region": self._region, "awssdk": "v2"}
        if any(os.environ.get(name) for name in _ENDPOINTS):
            # An endpoint of one's own has no name for each bucket (tried 2026-11-30 with moto).
            asked["use_path_style"] = "true"
        return f"s3://{self._bucket}/{self._prefix}?{urlencode(asked)}"

    def read(self, name: str) -> bytes | None:
        """The whole object; None when there is none."""
        with self._asking():
            try:
                found: bytes = self._s3.get_object(Bucket=self._bucket, Key=self._key(name))["Body"].read()
            except self._s3.exceptions.ClientError as error:
                if code_of(error) not in _ABSENT:
                    raise
                return None
        return found

    def write(self, name: str, text: str) -> None:
        """Write the object."""
        with self._asking():
            self._s3.put_object(Bucket=self._bucket, Key=self._key(name), Body=text.encode())

    def remove(self, name: str) -> None:
        """Delete the object."""
        with self._asking():
            self._s3.delete_object(Bucket=self._bucket, Key=self._key(name))

    def names(self, folder: str) -> tuple[str, ...]:
        """Full names of the objects in a folder."""
        start = self._key(folder) + "/"
        with self._asking():
            pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=start, Delimiter="/")
            keys = [row["Key"] for page in pages for row in page.get("Contents", ())]
        return tuple(sorted(f"{folder}/{key.removeprefix(start)}" for key in keys if key != start))

    def changed(self, name: str) -> float | None:
        """When the object was written."""
        with self._asking():
            try:
                answer: Mapping[str, Any] = self._s3.head_object(Bucket=self._bucket, Key=self._key(name))
            except self._s3.exceptions.ClientError as error:
                if code_of(error) not in _ABSENT:
                    raise
                return None
        return float(answer["LastModified"].timestamp())

    def shown(self, name: str) -> str:
        """Its URL, as AWS's own tools take it."""
        return f"s3://{self._bucket}/{self._key(name)}"

    def _key(self, name: str) -> str:
        return self._prefix + (name if name.startswith(ENGINE) else _OURS + name)

    @cached_property
    def _s3(self) -> Any:
        return open_session(self._cloud).client("s3", region_name=self._cloud.region, config=CONFIG)

    @cached_property
    def _region(self) -> str:
        """The bucket's own, which need not be that of the hosts.

        Raises:
            GpuprovError: GP-CLOUD-062 when there is no such bucket, or it may not be looked at.
        """
        with self._asking():
            try:
                answer = self._s3.head_bucket(Bucket=self._bucket)
            except self._s3.exceptions.ClientError as error:
                if code_of(error) not in _UNUSABLE:
                    raise
                raise GpuprovError(self._unusable(code_of(error))) from error
        found = answer.get("BucketRegion") or answer["ResponseMetadata"]["HTTPHeaders"].get("x-amz-bucket-region")
        return str(found or self._cloud.region)

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        with translated("targets.cloud.state.backend", profile=self._cloud.profile):
            try:
                yield
            except self._s3.exceptions.NoSuchBucket as error:
                raise GpuprovError(self._unusable("NoSuchBucket")) from error

    def _unusable(self, code: str) -> Diagnostic:
        missing = code in {"NoSuchBucket", "404"}
        return Diagnostic(
            code="GP-CLOUD-062",
            address="targets.cloud.state.backend",
            summary=f"there is no bucket {self._bucket}"
            if missing
            else f"the bucket {self._bucket} may not be looked at by this caller",
            detail="the stack's state is kept there; nothing was changed",
            hint=f"make it once, with versions kept and public access blocked: `aws s3api create-bucket --bucket"
            f" {self._bucket}`, or correct targets.cloud.state.backend"
            if missing
            else "let the caller list, read, write and delete there: s3:ListBucket on the bucket, s3:GetObject,"
            " s3:PutObject and s3:DeleteObject on what is below the prefix",
        )
