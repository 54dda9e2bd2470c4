"""One call of the API as the lab reads it before moto does: service, action, parameters."""

import io
import json
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qs, parse_qsl

from gpuprov.lab.aws.rest import rest_action

_S3_PARTS = {
    "policy": "BucketPolicy",
    "versioning": "BucketVersioning",
    "encryption": "EncryptionConfiguration",
    "publicAccessBlock": "BucketPublicAccessBlock",
    "ownershipControls": "BucketOwnershipControls",
    "lifecycle": "LifecycleConfiguration",
    "tagging": "BucketTagging",
    "acl": "BucketAcl",
    "location": "BucketLocation",
}
"""Query word of a bucket's part -> how IAM's action ends (S3's "Actions, resources and condition keys", 2026-11)."""
_S3_VERBS = {"GET": "Get", "HEAD": "Get", "PUT": "Put", "POST": "Put", "DELETE": "Delete"}
_S3_BUCKET = {"PUT": "CreateBucket", "DELETE": "DeleteBucket", "GET": "ListBucket", "HEAD": "ListBucket"}
_S3_LISTINGS = {"versions": "ListBucketVersions", "uploads": "ListBucketMultipartUploads"}
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiRequest:
    """A call of the API."""

    service: str
    """As in the signature: "ec2", "iam", "sts", "s3"; empty for an unsigned call."""
    action: str
    """As IAM names it: "RunInstances"; empty when it could not be told."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """The parameters of a query call, flat: `TagSpecification.1.Tag.1.Key`."""
    region: str = ""
    """As in the signature."""
    path: str = ""
    """Of a call of S3: `/BUCKET/KEY`; of another that is no query call, with its query."""

    def matches(self, pattern: str) -> bool:
        """Whether an action pattern means this call: "ec2:RunInstances", "RunInstances", "s3:*", "*"."""
        name = f"{self.service}:{self.action}" if ":" in pattern else self.action
        return fnmatchcase(name, pattern)


_CURRENT: ContextVar[ApiRequest | None] = ContextVar("gpuprov-lab-request", default=None)


def set_current(request: ApiRequest) -> None:
    """Let the hooks of this thread see the call that it answers."""
    _CURRENT.set(request)


def parameter(name: str) -> str | None:
    """Return a parameter of the call that this thread answers; None when there is no call or no such parameter."""
    current = _CURRENT.get()
    return None if current is None else current.parameters.get(name)


def read_request(environ: dict[str, Any]) -> ApiRequest:
    """Read a call; what was read of its body is put back."""
    region, service = _signed(environ.get("HTTP_AUTHORIZATION", ""))
    if service == "s3":
        path = environ.get("PATH_INFO", "/")
        action = s3_action(environ["REQUEST_METHOD"], path, environ.get("QUERY_STRING", ""))
        source = environ.get("HTTP_X_AMZ_COPY_SOURCE", "")
        parameters = {"CopySource": source} if source else {}
        return ApiRequest(service=service, action=action, parameters=parameters, region=region, path=path)
    if not environ.get("CONTENT_TYPE", "").startswith(_FORM):
        path = environ.get("PATH_INFO", "/")
        action = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
        return ApiRequest(
            service=service,
            action=action or rest_action(service, environ["REQUEST_METHOD"], path),
            parameters=_members(_body(environ)),
            region=region,
            path=f"{path}?{environ.get('QUERY_STRING', '')}",
        )
    body = _body(environ)
    parameters = dict(parse_qsl(body.decode(), keep_blank_values=True))
    return ApiRequest(service=service, action=parameters.get("Action", ""), parameters=parameters, region=region)


def _body(environ: dict[str, Any]) -> bytes:
    """Return the body of a call, and put it back."""
    body: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    return body


def _members(body: bytes) -> dict[str, str]:
    """Return the plain members of a JSON body, and its tags as a query call has them; none of another body."""
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    plain = {name: value for name, value in found.items() if isinstance(value, str)}
    tags = found.get("Tags")
    for number, tag in enumerate(tags if isinstance(tags, list) else (), start=1):
        plain[f"Tags.member.{number}.Key"] = str(tag.get("Key"))
        plain[f"Tags.member.{number}.Value"] = str(tag.get("Value"))
    return plain


def signed_service(authorization: str) -> str:
    """Return the service that a signature (version 4) is for; empty when there is none."""
    return _signed(authorization)[1]


def _signed(authorization: str) -> tuple[str, str]:
    """Return region and service of a signature (version 4); both empty when there is none."""
    _, found, scope = authorization.partition("Credential=")
    parts = scope.split(",")[0].strip().split("/")
    whole = found and len(parts) == 5  # noqa: PLR2004 (key, date, region, service, "aws4_request")
    return (parts[2], parts[3].lower()) if whole else ("", "")


def s3_action(method: str, path: str, query: str) -> str:
    """Return IAM's action for a call of S3; HeadBucket and HeadObject count as the reading that IAM asks for."""
    bucket, _, key = path.lstrip("/").partition("/")
    if not bucket:
        return "ListAllMyBuckets"
    words = parse_qs(query, keep_blank_values=True)
    if key:
        return _object_action(method, words)
    for word, ending in _S3_PARTS.items():
        if word in words:
            # Removing a part other than the policy is allowed by the action that writes it.
            verb = "Put" if method == "DELETE" and word != "policy" else _S3_VERBS.get(method, "Get")
            return f"{verb}{ending}"
    for word, action in (("delete", "DeleteObject"), *_S3_LISTINGS.items()):
        if word in words:
            return action
    return _S3_BUCKET.get(method, "ListBucket")


def _object_action(method: str, words: Mapping[str, list[str]]) -> str:
    """Return IAM's action for a call about an object; one version of it, and an unfinished upload, have their own."""
    if method == "DELETE" and "uploadId" in words:
        return "AbortMultipartUpload"
    if method == "DELETE" and "versionId" in words:
        return "DeleteObjectVersion"
    return {"GET": "GetObject", "HEAD": "GetObject", "DELETE": "DeleteObject"}.get(method, "PutObject")
