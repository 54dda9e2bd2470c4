import io
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.lab.aws.request import ApiRequest, read_request, s3_action, signed_service
from gpuprov.lab.aws.rest import rest_action

MOUNT_TARGET_GROUPS = "DescribeMountTargetSecurityGroups"
CASES = Path(__file__).parents[3] / "cases" / "lab" / "aws"
AUTHORIZATION = "AWS4-HMAC-SHA256 Credential=AKIA/20261130/us-east-1/{}/aws4_request, SignedHeaders=host, Signature=0"


@pytest.mark.parametrize("case", yaml.safe_load((CASES / "s3_actions.yaml").read_text()), ids=lambda c: str(c["call"]))
def test_a_call_of_s3_has_the_action_that_iam_asks_for(case: dict[str, Any]) -> None:
    assert s3_action(*case["call"]) == case["action"]


def test_a_query_call_is_read_and_its_body_is_put_back() -> None:
    body = b"Action=RunInstances&ClientToken=t&TagSpecification.1.Tag.1.Key=Name&Empty="
    environ = {
        "HTTP_AUTHORIZATION": AUTHORIZATION.format("ec2"),
        "CONTENT_TYPE": "application/x-www-form-urlencoded; charset=utf-8",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
    }
    call = read_request(environ)
    assert (call.service, call.action) == ("ec2", "RunInstances")
    assert call.parameters["TagSpecification.1.Tag.1.Key"] == "Name"
    assert call.parameters["Empty"] == ""
    assert environ["wsgi.input"].read() == body


def test_a_json_call_is_known_by_its_target() -> None:
    environ = {
        "HTTP_AUTHORIZATION": AUTHORIZATION.format("kms"),
        "CONTENT_TYPE": "application/x-amz-json-1.1",
        "HTTP_X_AMZ_TARGET": "TrentService.CreateKey",
        "REQUEST_METHOD": "POST",
        "wsgi.input": io.BytesIO(b"{}"),
    }
    call = read_request(environ)
    assert (call.service, call.action, call.region) == ("kms", "CreateKey", "us-east-1")


def test_a_call_by_method_and_path_has_its_action_and_its_members() -> None:
    body = b'{"CreationToken": "t", "Encrypted": true, "Tags": [{"Key": "a", "Value": "b"}]}'
    environ = {
        "HTTP_AUTHORIZATION": AUTHORIZATION.format("elasticfilesystem"),
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/2015-02-01/file-systems",
        "wsgi.input": io.BytesIO(body),
    }
    call = read_request(environ)
    assert call.action == "CreateFileSystem"
    assert call.parameters == {"CreationToken": "t", "Tags.member.1.Key": "a", "Tags.member.1.Value": "b"}
    assert environ["wsgi.input"].read() == body


@pytest.mark.parametrize(
    ("service", "method", "path", "action"),
    [
        ("elasticfilesystem", "GET", "/2015-02-01/file-systems", "DescribeFileSystems"),
        ("elasticfilesystem", "DELETE", "/2015-02-01/file-systems/fs-0a1b", "DeleteFileSystem"),
        ("elasticfilesystem", "GET", "/2015-02-01/mount-targets/fsmt-0a1b/security-groups", MOUNT_TARGET_GROUPS),
        ("elasticfilesystem", "POST", "/2015-02-01/resource-tags/fs-0a1b", "TagResource"),
        ("elasticfilesystem", "PATCH", "/2015-02-01/file-systems", ""),
        ("resource-groups", "POST", "/list-group-resources", "ListGroupResources"),
        ("lambda", "GET", "/2015-03-31/functions", ""),
    ],
)
def test_an_action_by_method_and_path(service: str, method: str, path: str, action: str) -> None:
    assert rest_action(service, method, path) == action


@pytest.mark.parametrize("text", ["", "Basic x", "AWS4-HMAC-SHA256 Credential=a/b/c", "AWS AKIA:sig"])
def test_an_unsigned_call_has_no_service(text: str) -> None:
    assert signed_service(text) == ""


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [("*", True), ("ec2:*", True), ("RunInstances", True), ("ec2:RunInstances", True), ("s3:*", False), ("Run", False)],
)
def test_a_pattern_means_a_call_by_action_or_by_service_and_action(pattern: str, matches: bool) -> None:  # noqa: FBT001
    assert ApiRequest(service="ec2", action="RunInstances").matches(pattern) is matches
