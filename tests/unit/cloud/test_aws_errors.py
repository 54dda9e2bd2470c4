"""Errors as boto3 raises them: refusals through botocore's stubber, the others by their classes."""

from typing import Any

import boto3
import pytest
from botocore import exceptions as boto
from botocore.parsers import ResponseParserError
from botocore.stub import Stubber

from gpuprov.cloud.aws_errors import code_of, translate, translated
from gpuprov.model.diagnostic import GpuprovError

KEYS = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}

RAISED: list[tuple[Exception, str, str]] = [
    (boto.NoCredentialsError(), "GP-CLOUD-003", "AWS_ACCESS_KEY_ID"),
    (boto.PartialCredentialsError(provider="env", cred_var="aws_secret_access_key"), "GP-CLOUD-003", "aws sso login"),
    (boto.CredentialRetrievalError(provider="process", error_msg="status 1"), "GP-CLOUD-003", "profile"),
    (boto.ProfileNotFound(profile="train"), "GP-CLOUD-003", "list-profiles"),
    (boto.InvalidConfigError(error_msg="no source_profile"), "GP-CLOUD-003", "list-profiles"),
    (boto.UnauthorizedSSOTokenError(), "GP-CLOUD-004", "`aws sso login --profile train`"),
    (boto.SSOTokenLoadError(error_msg="no token"), "GP-CLOUD-004", "`aws sso login --profile train`"),
    (boto.TokenRetrievalError(provider="sso", error_msg="expired"), "GP-CLOUD-004", "aws sso login"),
    (boto.EndpointConnectionError(endpoint_url="https://x"), "GP-CLOUD-025", "AWS_ENDPOINT_URL"),
    (boto.ConnectTimeoutError(endpoint_url="https://x"), "GP-CLOUD-025", "HTTPS_PROXY"),
    (boto.ProxyConnectionError(proxy_url="http://p"), "GP-CLOUD-025", "HTTPS_PROXY"),
    (boto.SSLError(endpoint_url="https://x", error="self-signed"), "GP-CLOUD-025", "proxy"),
    (boto.ConnectionClosedError(endpoint_url="https://x"), "GP-CLOUD-025", "firewall"),
    (ResponseParserError("a page of a proxy"), "GP-CLOUD-025", "proxy"),
    (boto.ReadTimeoutError(endpoint_url="https://x"), "GP-CLOUD-024", "again"),
    (boto.NoRegionError(), "GP-CLOUD-006", "region"),
    (boto.ParamValidationError(report="wrong"), "GP-CLOUD-010", ""),
]


@pytest.mark.parametrize(("error", "code", "hint"), RAISED, ids=[type(row[0]).__name__ for row in RAISED])
def test_an_error_without_an_answer(error: Exception, code: str, hint: str) -> None:
    found = translate(error, address="here", profile="train").diagnostics[0]
    assert (found.code, found.address) == (code, "here")
    assert hint in found.hint


def refused(code: str, message: str) -> Any:
    client = boto3.client("ec2", **KEYS)
    stub = Stubber(client)
    stub.add_client_error("describe_vpcs", service_error_code=code, service_message=message)
    stub.activate()
    return client


def test_a_refusal_is_told_with_the_call_that_was_refused() -> None:
    with pytest.raises(GpuprovError) as caught, translated("vpc"):
        refused("UnauthorizedOperation", "You are not authorized to perform this operation.").describe_vpcs()
    found = caught.value.diagnostics[0]
    assert (found.code, found.address) == ("GP-CLOUD-007", "vpc")
    assert "DescribeVpcs" in found.summary


def test_other_errors_pass() -> None:
    with pytest.raises(KeyError), translated("vpc"):
        raise KeyError("x")


def test_the_code_of_a_refusal() -> None:
    with pytest.raises(boto.ClientError) as caught:
        refused("Throttling", "Rate exceeded").describe_vpcs()
    assert code_of(caught.value) == "Throttling"
    assert code_of(boto.NoCredentialsError()) == ""
