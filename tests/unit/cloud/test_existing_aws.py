"""Instances by their tags, in moto's EC2."""

from typing import Any

import pytest

from gpuprov.cloud.account import Account

pytestmark = pytest.mark.slow  # starts AWS's stand-in: not for `make quick`


@pytest.fixture
def start(ec2: Any, image_id: str) -> Any:
    """Start an instance with tags; returns its id."""

    def run(**tags: str) -> str:
        given = [{"Key": key, "Value": value} for key, value in tags.items()]
        specification = [{"ResourceType": "instance", "Tags": given}]
        answer = ec2.run_instances(ImageId=image_id, MinCount=1, MaxCount=1, TagSpecifications=specification)
        return str(answer["Instances"][0]["InstanceId"])

    return run


def test_all_tags_count_letter_by_letter(account: Account, start: Any) -> None:
    wanted = start(team="ml*", stage="prod")
    start(team="ml-other", stage="prod")
    start(team="ml*")
    (found,) = account.instances_with({"team": "ml*", "stage": "prod"})
    assert (found.id, found.tags) == (wanted, {"team": "ml*", "stage": "prod"})
    assert found.private_address
    assert str(found.state) == "running"


def test_what_is_gone_is_left_out_and_what_is_stopped_is_not(account: Account, start: Any, ec2: Any) -> None:
    gone, stopped = start(team="ml"), start(team="ml")
    ec2.terminate_instances(InstanceIds=[gone])
    ec2.stop_instances(InstanceIds=[stopped])
    assert [(one.id, str(one.state)) for one in account.instances_with({"team": "ml"})] == [(stopped, "stopped")]
    assert account.instances_with({"team": "other"}) == ()
