from collections.abc import Iterator
from typing import Any

import pytest
from botocore.stub import Stubber

from gpuprov.cloud import instances_aws
from gpuprov.cloud.account import Account
from gpuprov.cloud.types import InstanceState
from gpuprov.model.diagnostic import GpuprovError

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


@pytest.fixture
def instance_id(ec2: Any, image_id: str) -> str:
    """A running instance of the spec `train`."""
    answer = ec2.run_instances(
        ImageId=image_id,
        MinCount=1,
        MaxCount=1,
        InstanceType="g6.xlarge",
        TagSpecifications=[
            {
                "ResourceType": "instance",
                "Tags": [
                    {"Key": "gpuprov:spec", "Value": "train"},
                    {"Key": "gpuprov:id", "Value": "train/instance/a"},
                ],
            }
        ],
    )
    return str(answer["Instances"][0]["InstanceId"])


@pytest.fixture
def stubbed(ec2: Any) -> Iterator[Stubber]:
    """Answers that moto does not give."""
    with Stubber(ec2) as stub:
        yield stub


def test_offerings_of_real_zones_and_none_for_an_unknown_type(account: Account) -> None:
    found = account.offerings({"p5.48xlarge", "p5.40xlarge", "g6.*"})
    assert "us-east-1a" in found["p5.48xlarge"]
    assert found["p5.48xlarge"] == tuple(sorted(found["p5.48xlarge"]))
    assert (found["p5.40xlarge"], found["g6.*"]) == ((), ())


def test_a_local_zone_is_no_zone_for_a_stack(stubbed: Stubber, ec2: Any) -> None:
    zones = [
        {"ZoneName": "us-east-1a", "ZoneType": "availability-zone", "State": "available"},
        {"ZoneName": "us-east-1b", "ZoneType": "availability-zone", "State": "unavailable"},
        {"ZoneName": "us-east-1-bos-1a", "ZoneType": "local-zone", "State": "available"},
    ]
    stubbed.add_response("describe_availability_zones", {"AvailabilityZones": zones})
    rows = [{"InstanceType": "g6.xlarge", "Location": zone["ZoneName"]} for zone in zones]
    stubbed.add_response("describe_instance_type_offerings", {"InstanceTypeOfferings": rows})
    assert instances_aws.offerings(ec2, {"g6.xlarge"}) == {"g6.xlarge": ("us-east-1a",)}


def test_health_of_instances_and_nothing_of_strangers(account: Account, instance_id: str, ec2: Any) -> None:
    found = account.health([instance_id, "i-0123456789abcdef0"])
    assert list(found) == [instance_id]
    assert (found[instance_id].state, found[instance_id].checks) == (InstanceState.RUNNING, "ok")
    ec2.terminate_instances(InstanceIds=[instance_id])
    gone = account.health([instance_id])[instance_id]
    assert gone.state is InstanceState.TERMINATED
    assert gone.reason


@pytest.mark.parametrize(
    ("system", "instance", "worst"),
    [
        ("ok", "ok", "ok"),
        ("ok", "initializing", "initializing"),
        ("impaired", "ok", "impaired"),
        ("ok", "insufficient-data", "insufficient-data"),
        ("not-applicable", "not-applicable", "not-applicable"),
    ],
)
def test_the_worse_check_counts(stubbed: Stubber, ec2: Any, system: str, instance: str, worst: str) -> None:
    row = {"InstanceId": "i-1", "State": {"Name": "running"}}
    stubbed.add_response("describe_instances", {"Reservations": [{"Instances": [row]}]})
    status = {"InstanceId": "i-1", "SystemStatus": {"Status": system}, "InstanceStatus": {"Status": instance}}
    stubbed.add_response("describe_instance_status", {"InstanceStatuses": [status]})
    assert instances_aws.health(ec2, ["i-1"])["i-1"].checks == worst


def test_the_console_of_an_instance_without_nitro(stubbed: Stubber, ec2: Any) -> None:
    stubbed.add_client_error("get_console_output", "UnsupportedOperation", "Latest is not supported.")
    stubbed.add_response("get_console_output", {"InstanceId": "i-1", "Output": "aGVsbG8="}, {"InstanceId": "i-1"})
    assert instances_aws.console(ec2, "i-1") == "hello"


def test_a_console_without_output(stubbed: Stubber, ec2: Any) -> None:
    stubbed.add_response("get_console_output", {"InstanceId": "i-1"})
    assert instances_aws.console(ec2, "i-1") == ""


def test_stopping_waits_for_the_end(account: Account, instance_id: str) -> None:
    account.stop(instance_id, seconds=5)
    assert account.health([instance_id])[instance_id].state is InstanceState.STOPPED


def test_stopping_one_that_is_terminated_meanwhile(stubbed: Stubber, ec2: Any) -> None:
    stubbed.add_response("stop_instances", {})
    row = {"InstanceId": "i-1", "State": {"Name": "terminated"}, "StateReason": {"Message": "Server.SpotInterruption"}}
    stubbed.add_response("describe_instances", {"Reservations": [{"Instances": [row]}]})
    stubbed.add_response("describe_instance_status", {"InstanceStatuses": []})
    with pytest.raises(GpuprovError) as caught:
        instances_aws.switch(ec2, ["i-1"], on=False, seconds=5, report=lambda _: None)
    assert caught.value.diagnostics[0].code == "GP-CLOUD-016"
    assert "SpotInterruption" in caught.value.diagnostics[0].detail


def test_stopping_ends_in_time(stubbed: Stubber, ec2: Any) -> None:
    stubbed.add_response("stop_instances", {})
    row = {"InstanceId": "i-1", "State": {"Name": "stopping"}}
    stubbed.add_response("describe_instances", {"Reservations": [{"Instances": [row]}]})
    stubbed.add_response("describe_instance_status", {"InstanceStatuses": []})
    with pytest.raises(GpuprovError) as caught:
        instances_aws.switch(ec2, ["i-1"], on=False, seconds=0, report=lambda _: None)
    assert caught.value.diagnostics[0].code == "GP-CLOUD-024"


def test_a_start_waits_for_a_stop_that_is_not_over(stubbed: Stubber, ec2: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuprov.cloud.waiting.time.sleep", lambda _: None)
    for state in ("stopping", "stopped"):
        stubbed.add_response("describe_instances", _one("i-1", state))
        stubbed.add_response("describe_instance_status", {"InstanceStatuses": []})
    stubbed.add_response("start_instances", {}, {"InstanceIds": ["i-1"]})
    for state in ("pending", "running"):
        stubbed.add_response("describe_instances", _one("i-1", state))
        stubbed.add_response("describe_instance_status", {"InstanceStatuses": []})
    instances_aws.switch(ec2, ["i-1"], on=True, seconds=30, report=lambda _: None)
    stubbed.assert_no_pending_responses()


def test_each_instance_that_is_late_is_told(stubbed: Stubber, ec2: Any) -> None:
    rows = [{"InstanceId": f"i-{n}", "State": {"Name": state}} for n, state in ((1, "stopped"), (2, "stopping"))]
    stubbed.add_response("stop_instances", {}, {"InstanceIds": ["i-1", "i-2"]})
    stubbed.add_response("describe_instances", {"Reservations": [{"Instances": rows}]})
    stubbed.add_response("describe_instance_status", {"InstanceStatuses": []})
    with pytest.raises(GpuprovError) as caught:
        instances_aws.switch(ec2, ["i-2", "i-1"], on=False, seconds=0, report=lambda _: None)
    assert [(d.code, d.address) for d in caught.value.diagnostics] == [("GP-CLOUD-024", "i-2")]


def _one(name: str, state: str) -> dict[str, Any]:
    return {"Reservations": [{"Instances": [{"InstanceId": name, "State": {"Name": state}}]}]}


def test_images_in_use_are_those_of_instances_that_may_run_again(
    account: Account, instance_id: str, image_id: str, ec2: Any
) -> None:
    assert account.images_in_use("other") == frozenset()
    account.stop(instance_id, seconds=5)
    assert account.images_in_use("train") == {image_id}
    ec2.terminate_instances(InstanceIds=[instance_id])
    assert account.images_in_use("train") == frozenset()


def test_an_image_that_a_host_of_another_spec_runs_from_is_in_use(
    account: Account, instance_id: str, image_id: str, ec2: Any
) -> None:
    assert instance_id  # of the spec `train`
    tags = {"gpuprov:spec": "another", "gpuprov:pool": "train", "gpuprov:baked": "d"}
    ec2.create_tags(Resources=[image_id], Tags=[{"Key": key, "Value": value} for key, value in tags.items()])
    assert account.images_in_use("another") == {image_id}


def test_an_instance_that_a_part_of_ec2_does_not_know_yet_is_waited_for(stubbed: Stubber, ec2: Any) -> None:
    row = {"InstanceId": "i-0123456789abcdef0", "State": {"Name": "pending"}}
    stubbed.add_response("describe_instances", {"Reservations": [{"Instances": [row]}]})
    stubbed.add_client_error("describe_instance_status", "InvalidInstanceID.NotFound")
    (found,) = instances_aws.health(ec2, [row["InstanceId"]]).values()
    assert (found.state, found.checks) == (InstanceState.PENDING, "insufficient-data")
