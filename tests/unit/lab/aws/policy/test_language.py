from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.lab.aws.policy.language import Asked, allowed

CASES = yaml.safe_load((Path(__file__).parents[4] / "cases" / "lab" / "policy.yaml").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_what_a_policy_allows(case: dict[str, Any]) -> None:
    policy = {"Statement": [{"Effect": "Allow", **statement} for statement in case["statements"]]}
    action, resource, *context = case["asked"]
    given = {key: tuple(values) for key, values in (context[0] if context else {}).items()}
    assert allowed([policy], Asked(action=action, resource=resource, context=given)) is case["allowed"]


def test_policies_count_together() -> None:
    allowing = {"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}
    denying = {"Statement": {"Effect": "Deny", "Action": "ec2:*", "Resource": "*"}}
    asked = Asked(action="ec2:RunInstances", resource="*")
    assert allowed([{"Statement": []}, allowing], asked)
    assert not allowed([allowing, denying], asked)


def test_a_condition_that_is_not_built_is_not_passed_over() -> None:
    condition = {"DateLessThan": {"aws:CurrentTime": "2026-11-30T00:00:00Z"}}
    policy = {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": condition}]}
    with pytest.raises(ValueError, match="DateLessThan"):
        allowed([policy], Asked(action="a:b", resource="*", context={"aws:CurrentTime": ("2026",)}))
