import json
from pathlib import Path
from typing import Any

import pytest

from gpuprov.lab.aws.plugin import rules, table
from gpuprov.lab.aws.plugin.errors import AwsError

CASES = json.loads((Path(__file__).parents[4] / "cases/lab/aws/plugin/refusals.json").read_text(encoding="utf-8"))
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['type'].rpartition(':')[2]}: {case['text']}")
def test_what_the_types_do_not_say_is_refused(case: dict[str, Any]) -> None:
    by_provider = rules.refused_by_provider(case["type"], case["inputs"])
    if case["by"] == "provider":
        assert case["property"] in [each.property for each in by_provider]
        assert any(case["text"] in each.reason for each in by_provider if each.property == case["property"])
        return
    assert by_provider == ()
    with pytest.raises(AwsError) as caught:
        rules.raise_refused_by_aws(case["type"], case["inputs"])
    assert (caught.value.operation, caught.value.code) == (case["by"], case["code"])
    assert caught.value.message.startswith(case["property"])
    assert case["text"] in caught.value.message


def test_every_kind_of_rule_has_a_case() -> None:
    kinds = {rule.kind for rule in table.rules()}
    assert kinds == set(rules.KINDS)
    tried = {
        rule.kind
        for case in CASES
        for rule, at, _ in rules.complaints(case["type"], case["inputs"])
        if at == case["property"] and rule.by == case["by"]
    }
    assert kinds - tried == set()


def test_what_is_unknown_breaks_no_rule() -> None:
    inputs = {
        "availabilityZone": UNKNOWN,
        "size": UNKNOWN,
        "type": UNKNOWN,
        "iops": UNKNOWN,
        "throughput": 5000,
        "tags": {"a$": UNKNOWN},
    }
    assert rules.refused_by_provider("aws:ebs/volume:Volume", inputs) == ()
    rules.raise_refused_by_aws("aws:ebs/volume:Volume", inputs)


def test_tags_as_gpuprov_makes_them_pass() -> None:
    tags = {"Name": "train-a", "gpuprov:spec": "train", "gpuprov:id": "train/volume/scratch/train-a"}
    rules.raise_refused_by_aws("aws:ebs/volume:Volume", {"size": 1, "tags": tags})


def test_a_resource_has_at_most_fifty_tags() -> None:
    rules.raise_refused_by_aws("aws:ebs/volume:Volume", {"size": 1, "tags": {f"k{n}": "" for n in range(50)}})
    with pytest.raises(AwsError, match="can have 50 tags, but there are 51"):
        rules.raise_refused_by_aws("aws:ebs/volume:Volume", {"size": 1, "tags": {f"k{n}": "" for n in range(51)}})


@pytest.mark.parametrize(("key", "value", "fine"), [(127, 256, True), (128, 256, False), (127, 257, False)])
def test_lengths_of_tags_of_ec2(key: int, value: int, *, fine: bool) -> None:
    inputs = {"size": 1, "tags": {"k" * key: "v" * value}}
    if fine:
        rules.raise_refused_by_aws("aws:ebs/volume:Volume", inputs)
    else:
        with pytest.raises(AwsError, match="a tag's"):
            rules.raise_refused_by_aws("aws:ebs/volume:Volume", inputs)
