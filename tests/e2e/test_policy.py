"""The printed policy in force before the lab's account, without nodes: with the real engine and the strict plugin."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from policy_life import Life, life, the_ground, the_spec

from gpuprov.cloud.decide.operator import operator_policy
from gpuprov.model.diagnostic import GpuprovError

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
UP = ("up",)


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Life]:
    with life(tmp_path) as made:
        yield made


def test_up_is_denied_without_a_statement_and_goes_on_with_it(ground: Life) -> None:
    whole = operator_policy(the_ground(), UP)
    without = {**whole, "Statement": [each for each in whole["Statement"] if each["Sid"] != "LaunchHosts"]}
    guard = ground.cloud.account.guard
    guard.put_in_force([without])
    with pytest.raises(GpuprovError) as caught:
        ground.up(the_spec())
    assert {one.code for one in caught.value.diagnostics} == {"GP-CLOUD-007"}
    assert "ec2:RunInstances" in caught.value.diagnostics[0].summary
    guard.put_in_force([whole])
    ground.up(the_spec())
    assert {host.name for host in ground.stack.state().made.hosts} == {"train-a", "web-a"}
    guard.take_off()
    profiles = {row.address: row.inputs.get("iamInstanceProfile") for row in ground.stack.state().resources.values()}
    assert profiles["instance.web-a"] == "gpuprov-train-us-east-1"
    assert str(profiles["instance.train-a"]).startswith("gpuprov-train-us-east-1-train-")
