import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from lab_account import ZONE, Cloud, PaperMachine

from gpuprov.lab.aws import volumes

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


def refused(call: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as caught:
        call()
    return str(caught.value.response["Error"]["Code"])


def wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(autouse=True)
def loops(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """Loop devices of paper: name -> file; copies are real."""
    made: dict[str, str] = {}
    real = volumes.run

    def run(argv: Sequence[str], **more: Any) -> str:
        if argv[0] != "losetup":
            return real(argv, **more)
        if argv[1] == "--find":
            name = tmp_path / f"loop{len(made)}"
            name.touch()
            made[str(name)] = argv[-1]
            return f"{name}\n"
        if argv[1] == "--detach":
            del made[argv[2]]
        return ""

    monkeypatch.setattr(volumes, "run", run)
    return made


@pytest.fixture
def ec2(paper_cloud: Cloud) -> Any:
    return paper_cloud.client("ec2")


@pytest.fixture
def running(paper_cloud: Cloud, ec2: Any) -> str:
    instance = paper_cloud.run(ec2, paper_cloud.subnet(ec2))
    paper_cloud.settle(instance)
    return instance


@pytest.fixture
def machine(paper_cloud: Cloud, running: str) -> PaperMachine:
    return paper_cloud.machines[running]


def new_volume(ec2: Any, *, zone: str = ZONE, **more: Any) -> str:
    return str(ec2.create_volume(**{"AvailabilityZone": zone, "Size": 2, "VolumeType": "gp3", **more})["VolumeId"])


def test_a_volume_appears_in_a_running_machine_and_vanishes(
    paper_cloud: Cloud, ec2: Any, running: str, machine: PaperMachine, loops: dict[str, str]
) -> None:
    volume = new_volume(ec2)
    ec2.attach_volume(VolumeId=volume, InstanceId=running, Device="/dev/sdf")
    loop = next(iter(loops))
    assert machine.devices == {loop: "/dev/nvme1n1"}
    assert "/dev/nvme1n1" in machine.commands[-1]
    ec2.detach_volume(VolumeId=volume)
    assert (machine.devices, loops) == ({}, {})
    assert "/dev/nvme1n1" in machine.commands[-1]
    ec2.delete_volume(VolumeId=volume)
    assert not paper_cloud.account.volumes.file(volume).exists()


def test_volumes_are_there_at_each_boot(
    paper_cloud: Cloud, ec2: Any, running: str, machine: PaperMachine, loops: dict[str, str]
) -> None:
    ec2.stop_instances(InstanceIds=[running])
    paper_cloud.settle(running)
    ec2.attach_volume(VolumeId=new_volume(ec2), InstanceId=running, Device="/dev/sdf")
    assert machine.devices == {}
    ec2.start_instances(InstanceIds=[running])
    paper_cloud.settle(running)
    assert list(machine.devices.values()) == ["/dev/nvme1n1"]
    machine.commands.clear()
    machine.boots += 1
    wait(lambda: any("/dev/nvme1n1" in command for command in machine.commands))


def test_the_volumes_of_a_terminated_instance_are_let_go(
    paper_cloud: Cloud, ec2: Any, running: str, loops: dict[str, str]
) -> None:
    volume = new_volume(ec2)
    ec2.attach_volume(VolumeId=volume, InstanceId=running, Device="/dev/sdf")
    ec2.terminate_instances(InstanceIds=[running])
    paper_cloud.settle(running)
    assert loops == {}
    left = ec2.describe_volumes()["Volumes"]
    assert [(row["VolumeId"], row["State"]) for row in left] == [(volume, "available")]
    assert paper_cloud.account.volumes.file(volume).exists(), "data volumes outlive their instance"


def test_attachments_that_ec2_refuses(paper_cloud: Cloud, ec2: Any, running: str) -> None:
    first, second = new_volume(ec2), new_volume(ec2)
    elsewhere = new_volume(ec2, zone="us-east-1b")
    attach = ec2.attach_volume
    ec2.attach_volume(VolumeId=first, InstanceId=running, Device="/dev/sdf")
    root = paper_cloud.row(ec2, running)["BlockDeviceMappings"][0]["Ebs"]["VolumeId"]
    codes = [
        refused(lambda: attach(VolumeId=elsewhere, InstanceId=running, Device="/dev/sdg")),
        refused(lambda: attach(VolumeId=first, InstanceId=running, Device="/dev/sdg")),
        refused(lambda: attach(VolumeId=second, InstanceId=running, Device="/dev/sdf")),
        refused(lambda: ec2.detach_volume(VolumeId=root)),
        refused(lambda: ec2.delete_volume(VolumeId=first)),
        refused(lambda: new_volume(ec2, Iops=90000)),
        refused(lambda: ec2.modify_volume(VolumeId=first, Size=1)),
    ]
    assert codes == [
        "InvalidVolume.ZoneMismatch",
        "VolumeInUse",
        "InvalidParameterValue",
        "OperationNotPermitted",
        "VolumeInUse",
        "InvalidParameterValue",
        "InvalidParameterValue",
    ]
    ec2.terminate_instances(InstanceIds=[running])
    paper_cloud.settle(running)
    assert refused(lambda: attach(VolumeId=second, InstanceId=running, Device="/dev/sdf")) == "IncorrectState"


def test_a_snapshot_holds_the_bytes(paper_cloud: Cloud, ec2: Any, running: str) -> None:
    volume = new_volume(ec2)
    ec2.attach_volume(VolumeId=volume, InstanceId=running, Device="/dev/sdf")
    store = paper_cloud.account.volumes
    with store.file(volume).open("r+b") as file:
        file.write(b"data")
    snapshot = ec2.create_snapshot(VolumeId=volume)["SnapshotId"]
    copy = new_volume(ec2, SnapshotId=snapshot)
    with store.file(copy).open("rb") as file:
        assert file.read(4) == b"data"
    ec2.delete_snapshot(SnapshotId=snapshot)
    assert not store.file(snapshot).exists()


def test_an_image_is_made_with_the_system_off_and_boots_with_its_layers(
    paper_cloud: Cloud, ec2: Any, running: str, machine: PaperMachine
) -> None:
    tags = [{"ResourceType": kind, "Tags": [{"Key": "pool", "Value": "train"}]} for kind in ("image", "snapshot")]
    image = ec2.create_image(InstanceId=running, Name="baked", TagSpecifications=tags)["ImageId"]
    paper_cloud.settle(running)
    assert machine.told[-2:] == ["stop", "start"]
    row = ec2.describe_images(ImageIds=[image])["Images"][0]
    assert (row["State"], row["OwnerId"], row["RootDeviceName"]) == (
        "available",
        paper_cloud.account.cloud.account,
        "/dev/xvda",
    )
    assert row["Tags"] == [{"Key": "pool", "Value": "train"}]
    snapshots = ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"]
    assert [(s["Tags"], s["VolumeSize"]) for s in snapshots] == [(row["Tags"], 8)]
    assert refused(lambda: ec2.create_image(InstanceId=running, Name="baked")) == "InvalidAMIName.Duplicate"

    second = paper_cloud.run(ec2, paper_cloud.row(ec2, running)["SubnetId"], ImageId=image)
    paper_cloud.settle(second)
    launch = paper_cloud.machines[second].launch
    assert launch is not None
    folder = paper_cloud.account.images.folder
    assert launch.layers.disk == (folder / image / "upper", paper_cloud.base)
    assert (launch.layers.disk[0] / "etc" / "hostname").read_text() == "one\n"

    ec2.deregister_image(ImageId=image)
    assert refused(lambda: paper_cloud.run(ec2, "subnet-x", ImageId=image)) == "InvalidAMIID.NotFound"
    ec2.delete_snapshot(SnapshotId=snapshots[0]["SnapshotId"])
    assert (folder / image).exists(), "an instance stands on it"
    ec2.terminate_instances(InstanceIds=[second])
    paper_cloud.settle(second)
    assert not (folder / image).exists()


def test_without_a_reboot_the_system_writes_everything_and_stays_on(
    ec2: Any, paper_cloud: Cloud, running: str, machine: PaperMachine
) -> None:
    image = ec2.create_image(InstanceId=running, Name="live", NoReboot=True)["ImageId"]
    paper_cloud.settle(running)
    assert "stop" not in machine.told
    assert machine.commands[-1] == ["sync"]
    ec2.deregister_image(ImageId=image, DeleteAssociatedSnapshots=True)
    assert ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"] == []
    assert not (paper_cloud.account.images.folder / image).exists()


def test_a_disk_that_cannot_be_copied_is_a_failed_image(paper_cloud: Cloud, ec2: Any, running: str) -> None:
    paper_cloud.machines[running].folder = Path("/nonexistent")
    image = ec2.create_image(InstanceId=running, Name="broken")["ImageId"]
    paper_cloud.settle(running)
    assert ec2.describe_images(ImageIds=[image])["Images"][0]["State"] == "failed"
    assert paper_cloud.machines[running].told[-1] == "start", "the instance goes on"
    assert refused(lambda: paper_cloud.run(ec2, "subnet-x", ImageId=image)) == "InvalidAMIID.Unavailable"


def test_the_vendors_image_is_not_ours_to_remove(paper_cloud: Cloud, ec2: Any) -> None:
    base = paper_cloud.account.cloud.base_image
    assert refused(lambda: ec2.deregister_image(ImageId=base)) == "AuthFailure"
    assert refused(lambda: ec2.register_image(Name="other")) == "Unsupported"
    assert ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"] == []
