from typing import Any

import pytest
from botocore.stub import Stubber

from gpuprov.cloud import images_aws
from gpuprov.cloud.account import Account
from gpuprov.cloud.types import Image
from gpuprov.model.diagnostic import GpuprovError

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

IMAGE = Image(
    id="",
    name="train-train-20261130T061200Z",
    pool="train",
    os="debian-12",
    arch="amd64",
    region="us-east-1",
    baked="sha256:" + "ab" * 32,
    base="ami-0base",
    made="2026-11-30T06:12:00Z",
)
LATER = "2100-01-01T00:00:00Z"


@pytest.fixture
def instance_id(ec2: Any, image_id: str) -> str:
    """A stopped instance."""
    answer = ec2.run_instances(ImageId=image_id, MinCount=1, MaxCount=1)
    name = str(answer["Instances"][0]["InstanceId"])
    ec2.stop_instances(InstanceIds=[name])
    return name


def test_an_image_comes_back_as_it_was_made_and_is_checked_when_it_is_said(
    account: Account, ec2: Any, instance_id: str
) -> None:
    made = account.make_image(instance_id, IMAGE, spec_name="train")
    snapshots = account.wait_for_image(made, seconds=5)
    assert snapshots
    (found,) = account.images("train")
    assert (found.id, found.snapshots, found.checked) == (made, snapshots, False)
    assert (found.name, found.pool, found.os, found.arch) == (IMAGE.name, "train", "debian-12", "amd64")
    assert (found.baked, found.base, found.made) == (IMAGE.baked, IMAGE.base, IMAGE.made)
    account.mark_checked(made)
    assert account.images("train")[0].checked
    assert account.images("other") == ()
    tagged = ec2.describe_snapshots(SnapshotIds=list(snapshots))["Snapshots"][0]["Tags"]
    assert {"Key": "gpuprov:spec", "Value": "train"} in tagged


def test_an_image_whose_answer_was_lost_is_the_one_that_is_there(
    account: Account, ec2: Any, instance_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What botocore does: it asks again when the connection is cut, and EC2 knows the name by then."""
    made = account.make_image(instance_id, IMAGE, spec_name="train")
    monkeypatch.setattr(images_aws, "_SHOWN_SECONDS", 0.0)
    with Stubber(ec2) as stub:
        taken = "AMI name is already in use by an AMI of this account"
        stub.add_client_error("create_image", "InvalidAMIName.Duplicate", taken)
        stub.add_response("describe_images", {"Images": [{"ImageId": made}]})
        assert images_aws.make(ec2, instance_id, IMAGE, spec_name="train") == made
        asked = {
            "Owners": ["self"],
            "Filters": [
                {"Name": "name", "Values": [IMAGE.name]},
                {"Name": "tag:gpuprov:id", "Values": [f"train/image/{IMAGE.name}"]},
                {"Name": "tag:gpuprov:made", "Values": [IMAGE.made]},
            ],
        }
    with Stubber(ec2) as stub:
        stub.add_client_error("create_image", "InvalidAMIName.Duplicate", taken)
        stub.add_response("describe_images", {"Images": []}, asked)
        with pytest.raises(ec2.exceptions.ClientError):
            images_aws.make(ec2, instance_id, IMAGE, spec_name="train")


def test_removal_takes_the_snapshots_too_and_may_be_repeated(account: Account, ec2: Any, instance_id: str) -> None:
    made = account.make_image(instance_id, IMAGE, spec_name="train")
    snapshots = account.wait_for_image(made, seconds=5)
    account.remove_image(made)
    account.remove_image(made)
    assert account.images("train") == ()
    assert not account.image_exists(made)
    left = [row["SnapshotId"] for row in ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"]]
    assert not set(snapshots) & set(left)


def test_snapshots_that_a_killed_removal_left(account: Account, ec2: Any, instance_id: str) -> None:
    kept = account.make_image(instance_id, IMAGE, spec_name="train")
    lost = account.make_image(instance_id, IMAGE, spec_name="train")
    (snapshot,) = account.wait_for_image(lost, seconds=5)
    ec2.deregister_image(ImageId=lost)
    assert account.orphan_snapshots("train", settled="2000-01-01T00:00:00Z") == (), "an image may be in the making"
    assert account.orphan_snapshots("train", settled=LATER) == (snapshot,)
    account.remove_snapshot(snapshot)
    account.remove_snapshot(snapshot)
    assert account.orphan_snapshots("train", settled=LATER) == ()
    assert account.wait_for_image(kept, seconds=5)


def test_snapshots_that_were_not_made_by_an_image_build_stay(account: Account, ec2: Any) -> None:
    volume = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
    ec2.create_snapshot(
        VolumeId=volume,
        TagSpecifications=[{"ResourceType": "snapshot", "Tags": [{"Key": "gpuprov:spec", "Value": "train"}]}],
    )
    assert account.orphan_snapshots("train", settled=LATER) == ()


@pytest.mark.parametrize("name", ["ami-0123456789abcdef0", "nonsense"])
def test_an_image_that_is_not_there(account: Account, name: str) -> None:
    assert not account.image_exists(name)


def test_an_image_that_is_there(account: Account, image_id: str) -> None:
    assert account.image_exists(image_id)


def test_the_newest_base_image_counts(ec2: Any) -> None:
    rows = [
        ("ami-1", "debian-12-amd64-20260105-2348", "2026-01-05T12:00:00.000Z"),
        ("ami-3", "debian-12-amd64-20261124-2566", "2026-11-24T12:00:00.000Z"),
        ("ami-2", "debian-12-amd64-20260601-2401", "2026-06-01T12:00:00.000Z"),
    ]
    images = [{"ImageId": i, "Name": n, "CreationDate": d, "State": "available"} for i, n, d in rows]
    wanted = {
        "Owners": ["136693071363"],
        "Filters": [
            {"Name": "name", "Values": ["debian-12-amd64-????????-*"]},
            {"Name": "architecture", "Values": ["x86_64"]},
            {"Name": "state", "Values": ["available"]},
        ],
    }
    with Stubber(ec2) as stub:
        stub.add_response("describe_images", {"Images": images}, wanted)
        found = images_aws.find_base(ec2, "debian-12", "amd64", "us-east-1")
    assert (found.id, found.name, found.owner) == ("ami-3", "debian-12-amd64-20261124-2566", "136693071363")
    assert (found.os, found.arch, found.region) == ("debian-12", "amd64", "us-east-1")


def test_no_base_image_in_the_region(account: Account) -> None:
    with pytest.raises(GpuprovError) as caught:
        account.find_base_image("debian-12", "amd64")
    assert caught.value.diagnostics[0].code == "GP-CLOUD-018"
    assert "136693071363" in caught.value.diagnostics[0].detail


def test_an_operating_system_without_a_publisher(account: Account) -> None:
    with pytest.raises(GpuprovError) as caught:
        account.find_base_image("plan-9", "amd64")
    assert caught.value.diagnostics[0].code == "GP-CLOUD-018"


@pytest.mark.parametrize(("state", "code"), [("failed", "GP-CLOUD-010"), ("pending", "GP-CLOUD-024")])
def test_an_image_that_does_not_become_available(ec2: Any, state: str, code: str) -> None:
    row = {"ImageId": "ami-1", "State": state, "StateReason": {"Message": "Client.InternalError: snapshot"}}
    with Stubber(ec2) as stub:
        stub.add_response("describe_images", {"Images": [row]})
        with pytest.raises(GpuprovError) as caught:
            images_aws.wait(ec2, "ami-1", seconds=0, report=lambda _: None)
    assert caught.value.diagnostics[0].code == code
