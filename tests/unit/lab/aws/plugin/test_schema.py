import json
from pathlib import Path
from typing import Any

import pytest

from gpuprov.lab.aws.plugin import schema

CASES = json.loads((Path(__file__).parents[4] / "cases/lab/aws/plugin/inputs.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_inputs_are_compared_with_the_sdk(case: dict[str, Any]) -> None:
    refused = schema.check_inputs(case["type"], case["inputs"])
    assert [[each.property, each.reason] for each in refused] == case["refused"]


def test_an_output_is_known_by_its_wire_name() -> None:
    vpc = schema.resource_class("aws:ec2/vpc:Vpc")
    assert vpc is not None
    assert {"cidrBlock", "mainRouteTableId", "tagsAll"} <= vpc.outputs
    assert "cidr_block" not in vpc.outputs


def test_a_configuration_key_that_the_sdk_does_not_know_is_refused() -> None:
    import pulumi_aws  # noqa: PLC0415 (takes a second: only this test needs it by name)

    assert schema.check_names(pulumi_aws.ProviderArgs, {"region": "x"}) == ()
    assert [each.property for each in schema.check_names(pulumi_aws.ProviderArgs, {"regoin": "x"})] == ["regoin"]
