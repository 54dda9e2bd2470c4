from typing import Any

import grpc
import pytest
from aws_plugin import Engine
from lab_account import IMAGE
from pulumi.runtime.proto import provider_pb2

from gpuprov.lab.aws.plugin import wire

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


def ask(engine: Engine, token: str, arguments: dict[str, Any]) -> Any:
    """Call a function of the provider."""
    return engine.stub.Invoke(provider_pb2.InvokeRequest(tok=token, args=wire.write(arguments)))


def result(engine: Engine, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of a function."""
    return wire.read(getattr(ask(engine, token, arguments), "return"))


def test_zones_of_the_region(engine: Engine) -> None:
    token = "aws:index/getAvailabilityZones:getAvailabilityZones"
    found = result(engine, token, {"state": "available", "excludeNames": ["us-east-1b"]})
    assert "us-east-1a" in found["names"]
    assert "us-east-1b" not in found["names"]
    assert found["id"] == "us-east-1"
    assert len(found["zoneIds"]) == len(found["names"])


def test_an_image_by_its_name(engine: Engine) -> None:
    arguments = {"filters": [{"name": "name", "values": ["debian-12-amd64-*"]}], "mostRecent": True}
    assert result(engine, "aws:ec2/getAmi:getAmi", arguments)["id"] == IMAGE
    with pytest.raises(grpc.RpcError, match="Your query returned no results"):
        ask(engine, "aws:ec2/getAmi:getAmi", {"nameRegex": "^nothing$"})


def test_an_argument_that_would_be_ignored_is_refused(engine: Engine) -> None:
    answer = ask(engine, "aws:ec2/getAmi:getAmi", {"uefiData": "x"})
    assert [each.property for each in answer.failures] == ["uefiData"]


def test_another_function_is_refused(engine: Engine) -> None:
    with pytest.raises(grpc.RpcError, match="does not implement the function aws:ec2/getVpc:getVpc"):
        ask(engine, "aws:ec2/getVpc:getVpc", {})
