import base64
import time
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from lab_account import IMAGE, TYPE, ZONE, Cloud

from gpuprov.lab.aws import faults

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


def wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def refused(call: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as caught:
        call()
    return str(caught.value.response["Error"]["Code"])


@pytest.fixture
def ec2(paper_cloud: Cloud) -> Any:
    return paper_cloud.client("ec2")


@pytest.fixture
def subnet(paper_cloud: Cloud, ec2: Any) -> str:
    return paper_cloud.subnet(ec2)


@pytest.fixture
def running(paper_cloud: Cloud, ec2: Any, subnet: str) -> str:
    instance = paper_cloud.run(ec2, subnet, UserData="#cloud-config\nx: ü\n")
    paper_cloud.settle(instance)
    return instance


def test_an_instance_is_pending_until_its_machine_runs(paper_cloud: Cloud, ec2: Any, subnet: str) -> None:
    with paper_cloud.account.lock:  # the worker cannot tell moto anything
        pass
    answer = ec2.run_instances(ImageId=IMAGE, InstanceType=TYPE, SubnetId=subnet, MinCount=1, MaxCount=1)
    assert answer["Instances"][0]["State"]["Name"] == "pending"
    instance = answer["Instances"][0]["InstanceId"]
    paper_cloud.settle(instance)
    assert paper_cloud.state(ec2, instance) == "running"
    assert paper_cloud.machines[instance].told == ["make", "start"]


def test_a_machine_is_told_what_it_is(paper_cloud: Cloud, ec2: Any, running: str) -> None:
    launch = paper_cloud.machines[running].launch
    assert launch is not None
    shown = paper_cloud.row(ec2, running)
    told = launch.metadata
    assert told.user_data == "#cloud-config\nx: ü\n".encode()
    assert (told.private_address, told.public_address) == (shown["PrivateIpAddress"], shown["PublicIpAddress"])
    assert (told.zone, told.instance_type, told.ami_id) == (ZONE, TYPE, IMAGE)
    assert told.mac == shown["NetworkInterfaces"][0]["MacAddress"]
    assert launch.gpu is not None
    assert launch.gpu.model == "L4"
    assert launch.layers.disk == (paper_cloud.base,)


def test_a_subnet_without_public_addresses_gives_none(paper_cloud: Cloud, ec2: Any) -> None:
    instance = paper_cloud.run(ec2, paper_cloud.subnet(ec2, public=False))
    paper_cloud.settle(instance)
    launch = paper_cloud.machines[instance].launch
    assert launch is not None
    assert launch.metadata.public_address is None
    assert "PublicIpAddress" not in paper_cloud.row(ec2, instance)


def test_status_checks_are_of_the_machine(paper_cloud: Cloud, ec2: Any, subnet: str) -> None:
    def status(instance: str) -> str:
        rows = ec2.describe_instance_status(InstanceIds=[instance])["InstanceStatuses"]
        return str(rows[0]["InstanceStatus"]["Status"])

    instance = paper_cloud.run(ec2, subnet)
    paper_cloud.machines[instance].up = False
    paper_cloud.settle(instance)
    machine = paper_cloud.machines[instance]
    wait(lambda: paper_cloud.state(ec2, instance) == "running")
    paper_cloud.account.compute.records[instance].boot = -1  # as after a boot that nobody has seen yet
    wait(lambda: paper_cloud.account.compute.records[instance].boot == 1)
    assert status(instance) == "initializing"
    machine.up = True
    wait(lambda: status(instance) == "ok")
    with faults.fault(paper_cloud.endpoint, kind="status-check", instance=instance):
        assert status(instance) == "impaired"
    assert status(instance) == "ok"
    machine.boots += 1  # it rebooted by itself
    machine.up = False
    wait(lambda: status(instance) == "initializing")


def test_the_console_is_the_machines_last_64_kib(paper_cloud: Cloud, ec2: Any, running: str) -> None:
    machine = paper_cloud.machines[running]
    wait(lambda: ec2.get_console_output(InstanceId=running).get("Output", "") != "")
    machine.shown = b"x" * 70000 + b"\xff end\n"
    shown = ec2.get_console_output(InstanceId=running, Latest=True)["Output"]
    assert len(shown.encode(errors="surrogateescape")) <= 64 * 1024 + 10
    assert shown.endswith(" end\n")
    assert ec2.get_console_output(InstanceId=running)["Output"] == "boot 1\n", "posted at the last change"


def test_stop_and_start_keep_the_private_address_and_change_the_public_one(
    paper_cloud: Cloud, ec2: Any, running: str
) -> None:
    before = paper_cloud.row(ec2, running)
    machine = paper_cloud.machines[running]
    answer = ec2.stop_instances(InstanceIds=[running])["StoppingInstances"][0]
    assert (answer["PreviousState"]["Name"], answer["CurrentState"]["Name"]) == ("running", "stopping")
    paper_cloud.settle(running)
    stopped = paper_cloud.row(ec2, running)
    assert stopped["State"]["Name"] == "stopped"
    assert "PublicIpAddress" not in stopped
    assert machine.launch is not None
    assert machine.launch.metadata.public_address is None
    ec2.start_instances(InstanceIds=[running])
    paper_cloud.settle(running)
    after = paper_cloud.row(ec2, running)
    assert after["State"]["Name"] == "running"
    assert after["PrivateIpAddress"] == before["PrivateIpAddress"]
    assert after["PublicIpAddress"] != before["PublicIpAddress"]
    assert machine.launch.metadata.public_address == after["PublicIpAddress"]
    assert machine.told == ["make", "start", "stop", "describe", "describe", "start"]


def test_a_terminated_instance_leaves_nothing_but_its_row(paper_cloud: Cloud, ec2: Any, running: str) -> None:
    ec2.terminate_instances(InstanceIds=[running])
    ec2.terminate_instances(InstanceIds=[running])
    paper_cloud.settle(running)
    assert paper_cloud.state(ec2, running) == "terminated"
    assert paper_cloud.machines[running].told[-2:] == ["cut", "remove"]
    assert ec2.describe_volumes()["Volumes"] == []
    assert ec2.describe_network_interfaces()["NetworkInterfaces"] == []
    assert refused(lambda: ec2.start_instances(InstanceIds=[running])) == "IncorrectInstanceState"
    assert refused(lambda: ec2.reboot_instances(InstanceIds=[running])) == "IncorrectInstanceState"


def test_an_instance_that_switches_itself_off_is_stopped(paper_cloud: Cloud, ec2: Any, running: str) -> None:
    paper_cloud.machines[running].on = False
    wait(lambda: paper_cloud.state(ec2, running) == "stopped")


def test_or_terminated_where_its_owner_said_so(paper_cloud: Cloud, ec2: Any, subnet: str) -> None:
    instance = paper_cloud.run(ec2, subnet, InstanceInitiatedShutdownBehavior="terminate")
    paper_cloud.settle(instance)
    paper_cloud.machines[instance].on = False
    wait(lambda: paper_cloud.state(ec2, instance) == "terminated")


def test_a_machine_that_cannot_be_made_ends_its_instance(paper_cloud: Cloud, ec2: Any, subnet: str) -> None:
    make = paper_cloud.account.make_machine

    def broken(instance_id: str) -> Any:
        machine = make(instance_id)
        machine.refuses = True  # type: ignore[attr-defined]
        return machine

    paper_cloud.account.make_machine = broken
    instance = paper_cloud.run(ec2, subnet)
    wait(lambda: paper_cloud.state(ec2, instance) == "terminated")
    assert "Server.InternalError" in paper_cloud.row(ec2, instance)["StateReason"]["Code"]
    assert paper_cloud.machines[instance].told[-1] == "remove"
    assert any("no room" in line for line in paper_cloud.log)
    assert ec2.describe_volumes()["Volumes"] == []
    assert ec2.describe_network_interfaces()["NetworkInterfaces"] == []


def test_no_capacity_in_a_zone(paper_cloud: Cloud, ec2: Any, subnet: str) -> None:
    with faults.fault(paper_cloud.endpoint, kind="capacity", zone=ZONE):
        with pytest.raises(ClientError) as caught:
            paper_cloud.run(ec2, subnet)
        assert caught.value.response["Error"]["Code"] == "InsufficientInstanceCapacity"
        assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
    with faults.fault(paper_cloud.endpoint, kind="capacity", zone="us-east-1f"):
        paper_cloud.run(ec2, subnet)


def test_a_quota_counts_what_runs(paper_cloud: Cloud, ec2: Any, subnet: str) -> None:
    with faults.fault(paper_cloud.endpoint, kind="quota", limit=4):
        first = paper_cloud.run(ec2, subnet)
        assert refused(lambda: paper_cloud.run(ec2, subnet)) == "VcpuLimitExceeded"
        ec2.terminate_instances(InstanceIds=[first])
        paper_cloud.settle(first)
        paper_cloud.run(ec2, subnet)


def test_bad_launches_are_refused_and_make_nothing(paper_cloud: Cloud, ec2: Any, subnet: str) -> None:
    elsewhere = paper_cloud.client("ec2", region="us-west-2")
    default = ec2.describe_subnets(Filters=[{"Name": "default-for-az", "Values": ["true"]}])["Subnets"][0]["SubnetId"]
    small = [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 4}}]
    codes = [
        refused(lambda: paper_cloud.run(ec2, subnet, ImageId="ami-00000000000000000")),
        refused(lambda: paper_cloud.run(ec2, subnet, InstanceType="g99.large")),
        refused(lambda: paper_cloud.run(ec2, subnet, KeyName="none")),
        refused(lambda: paper_cloud.run(ec2, subnet, BlockDeviceMappings=small)),
        refused(lambda: paper_cloud.run(ec2, default)),
        refused(lambda: elsewhere.run_instances(ImageId=IMAGE, InstanceType=TYPE, MinCount=1, MaxCount=1)),
    ]
    assert codes == [
        "InvalidAMIID.NotFound",
        "InvalidParameterValue",
        "InvalidKeyPair.NotFound",
        "InvalidBlockDeviceMapping",
        "Unsupported",
        "OptInRequired",
    ]
    assert paper_cloud.machines == {}
    assert ec2.describe_volumes()["Volumes"] == []


def test_a_zone_that_does_not_offer_the_type_is_refused(paper_cloud: Cloud, ec2: Any, subnet: str) -> None:
    with pytest.raises(ClientError, match="choosing us-east-1c") as caught:
        paper_cloud.run(ec2, subnet, InstanceType="p6-b200.48xlarge")
    assert caught.value.response["Error"]["Code"] == "Unsupported"


def test_the_root_has_the_size_that_was_asked_for_and_goes_with_its_instance(
    paper_cloud: Cloud, ec2: Any, subnet: str
) -> None:
    asked = [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 60, "VolumeType": "gp3", "Encrypted": True}}]
    instance = paper_cloud.run(ec2, subnet, BlockDeviceMappings=asked)
    volumes = ec2.describe_volumes()["Volumes"]
    assert [(v["Size"], v["Encrypted"], v["Attachments"][0]["Device"]) for v in volumes] == [(60, True, "/dev/xvda")]
    assert paper_cloud.row(ec2, instance)["BlockDeviceMappings"][0]["Ebs"]["DeleteOnTermination"] is True
    ec2.terminate_instances(InstanceIds=[instance])
    paper_cloud.settle(instance)
    assert ec2.describe_volumes()["Volumes"] == []


def test_with_boot_off_an_instance_exists_in_the_api_only(paper_cloud: Cloud, ec2: Any, subnet: str) -> None:
    with faults.fault(paper_cloud.endpoint, kind="boot-off"):
        instance = paper_cloud.run(ec2, subnet, InstanceType="g4dn.xlarge")
    paper_cloud.settle(instance)
    status = ec2.describe_instance_status(InstanceIds=[instance])["InstanceStatuses"][0]
    assert (status["InstanceState"]["Name"], status["InstanceStatus"]["Status"]) == ("running", "ok")
    ec2.stop_instances(InstanceIds=[instance])
    ec2.start_instances(InstanceIds=[instance]) if paper_cloud.state(ec2, instance) == "stopped" else None
    ec2.terminate_instances(InstanceIds=[instance])
    paper_cloud.settle(instance)
    assert paper_cloud.state(ec2, instance) == "terminated"
    assert paper_cloud.machines == {}


def test_a_role_comes_to_the_instance_by_its_profile(paper_cloud: Cloud, ec2: Any, subnet: str) -> None:
    iam = paper_cloud.client("iam")
    iam.create_role(RoleName="train", AssumeRolePolicyDocument="{}")
    iam.create_instance_profile(InstanceProfileName="train")
    iam.add_role_to_instance_profile(InstanceProfileName="train", RoleName="train")
    instance = paper_cloud.run(ec2, subnet, IamInstanceProfile={"Name": "train"})
    paper_cloud.settle(instance)
    launch = paper_cloud.machines[instance].launch
    assert launch is not None
    assert launch.metadata.role == "train"
    assert launch.metadata.profile_arn.endswith(":instance-profile/train")
    assert launch.metadata.credentials is not None
    assert len(base64.b64encode(launch.metadata.credentials.secret_access_key.encode())) > 20
    iam.remove_role_from_instance_profile(InstanceProfileName="train", RoleName="train")
    iam.delete_instance_profile(InstanceProfileName="train")
    iam.delete_role(RoleName="train")


def test_groups_are_changed_not_added(paper_cloud: Cloud, ec2: Any, running: str) -> None:
    vpc = paper_cloud.row(ec2, running)["VpcId"]
    group = ec2.create_security_group(GroupName="web", Description="web", VpcId=vpc)["GroupId"]
    ec2.modify_instance_attribute(InstanceId=running, Groups=[group])
    shown = paper_cloud.row(ec2, running)
    assert [g["GroupId"] for g in shown["SecurityGroups"]] == [group]
    assert [g["GroupId"] for g in shown["NetworkInterfaces"][0]["Groups"]] == [group]
