"""An image is what its record says, or in what it is not."""

from dataclasses import replace
from typing import Any

import pytest

from gpuprov.cloud.account import Account
from gpuprov.cloud.image_facts import ImageFacts, differences
from gpuprov.cloud.types import Image

IMAGE = Image(
    id="ami-1",
    name="train-1",
    pool="train",
    os="debian-12",
    arch="amd64",
    region="us-east-1",
    baked="sha256:ab",
    base="ami-0",
    made="2026-11-30T06:12:00Z",
    snapshots=("snap-1",),
    checked=True,
)
FACTS = ImageFacts(
    image=IMAGE, state="available", architecture="x86_64", public=False, snapshots={"snap-1": "completed"}
)


def test_what_is_as_recorded_has_no_difference() -> None:
    assert differences(IMAGE, FACTS) == ()
    assert differences(None, FACTS) == (), "one that is in no list has no record to differ from"
    assert differences(None, replace(FACTS, image=replace(IMAGE, checked=False))) == ()


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (None, ["the account has no such image"]),
        (replace(FACTS, state="failed"), ["EC2 says it is failed, so that no host can start from it"]),
        (replace(FACTS, architecture="arm64"), ["its tag says amd64, EC2 says arm64"]),
        (replace(FACTS, public=True), ["everybody may start hosts from it, and read what it holds"]),
        (replace(FACTS, snapshots={}), ["its snapshot snap-1 is gone"]),
        (replace(FACTS, snapshots={"snap-1": "error"}), ["its snapshot snap-1 is error"]),
        (
            replace(FACTS, image=replace(IMAGE, baked="sha256:cd")),
            ["baked: the list says sha256:ab, its tags say sha256:cd"],
        ),
        (replace(FACTS, image=replace(IMAGE, pool="other")), ["pool: the list says train, its tags say other"]),
        (
            replace(FACTS, image=replace(IMAGE, checked=False)),
            ["the list says that it was checked, its tags do not"],
        ),
        (
            replace(FACTS, image=replace(IMAGE, snapshots=()), snapshots={}),
            ["it has no snapshot", "snapshots: the list says snap-1, its tags say nothing"],
        ),
    ],
)
def test_what_is_not_as_recorded_is_said(facts: ImageFacts | None, said: list[str]) -> None:
    assert list(differences(IMAGE, facts)) == said


@pytest.mark.slow
def test_facts_of_a_real_call(account: Account, ec2: Any, image_id: str) -> None:
    from moto.ec2.models import ec2_backends  # noqa: PLC0415 - after the server, which sets its variables

    instance = ec2.run_instances(ImageId=image_id, MinCount=1, MaxCount=1)["Instances"][0]["InstanceId"]
    ec2.stop_instances(InstanceIds=[instance])
    made = account.make_image(instance, replace(IMAGE, id="", snapshots=()), spec_name="train")
    # EC2 gives an image the architecture of its instance; moto 5.2.5 gives it none.
    ec2_backends["123456789012"]["us-east-1"].amis[made].architecture = "x86_64"
    snapshots = account.wait_for_image(made, seconds=5)
    record = replace(IMAGE, id=made, snapshots=snapshots, checked=False)
    (facts,) = account.image_facts("train")
    assert differences(record, facts) == ()
    assert account.image_facts("other") == ()
    ec2.create_tags(Resources=[made], Tags=[{"Key": "gpuprov:baked", "Value": "sha256:forged"}])
    ec2.modify_image_attribute(ImageId=made, LaunchPermission={"Add": [{"Group": "all"}]})
    (facts,) = account.image_facts("train")
    assert differences(record, facts) == (
        "everybody may start hosts from it, and read what it holds",
        "baked: the list says sha256:ab, its tags say sha256:forged",
    )
