"""The printed policy in force before the lab's account, without nodes: with the real engine and the strict plugin."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_account import IMAGE
from policy_life import Life, life, the_ground, the_spec
from policy_lives import before_private, private_ground, private_spec

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


def test_who_locks_may_look_a_base_image_up_and_nothing_else(tmp_path: Path) -> None:
    whole = operator_policy(private_ground(), ("lock",))
    without = {**whole, "Statement": [each for each in whole["Statement"] if each["Sid"] != "LookUpBaseImages"]}
    with life(tmp_path, private_spec(), before=before_private) as made:
        guard = made.cloud.account.guard
        guard.put_in_force([without])
        with pytest.raises(GpuprovError) as caught:
            made.account.find_base_image("debian-12", "amd64")
        assert "ssm:GetParameter" in caught.value.diagnostics[0].summary
        guard.put_in_force([whole])
        assert made.account.find_base_image("debian-12", "amd64").id == IMAGE
        with pytest.raises(GpuprovError) as caught:
            made.account.health(["i-0123456789abcdef0"])
        assert {one.code for one in caught.value.diagnostics} == {"GP-CLOUD-007"}
