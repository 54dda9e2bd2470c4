"""The publisher's parameter of the newest base image."""

from types import SimpleNamespace

import pytest
from lab_account import Cloud

from gpuprov.cloud import own_images
from gpuprov.lab.aws import faults
from gpuprov.lab.aws.parameters import parameter_of, publish_parameter
from gpuprov.lock.types import LockedImage
from gpuprov.spec.base_image import BaseImageSpec

NAME = "debian-12-amd64-20261117-2300"


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        (NAME, "/aws/service/debian/release/12/latest/amd64"),
        (
            "ubuntu-24.04-amd64-20261117-2300",
            "/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id",
        ),
    ],
)
def test_its_name_is_the_publishers(name: str, parameter: str) -> None:
    assert parameter_of(name) == parameter


def test_it_holds_the_newest_and_older_ones_by_their_version() -> None:
    from moto.ssm.models import ssm_backends  # noqa: PLC0415 (moto reads its settings when it is imported)

    backend = SimpleNamespace(account_id="999988887777", region_name="eu-west-1")
    for image_id in ("ami-1", "ami-2"):
        publish_parameter(backend, image_id=image_id, name=NAME)
    ssm = ssm_backends["999988887777"]["eu-west-1"]
    found = [ssm.get_parameter(f"{parameter_of(NAME)}{version}") for version in ("", ":1", ":2")]
    assert [one.value for one in found if one is not None] == ["ami-2", "ami-1", "ami-2"]


@pytest.mark.slow
def test_a_spec_may_take_its_base_image_by_it(paper_cloud: Cloud) -> None:
    ssm, ec2 = paper_cloud.client("ssm"), paper_cloud.client("ec2")
    (first,) = ec2.describe_images()["Images"]
    name = parameter_of(first["Name"])
    base = BaseImageSpec(parameter=name)

    def find() -> LockedImage:
        return own_images.find({"ec2": ec2, "ssm": ssm}.__getitem__, base, "debian-12", "amd64", "us-east-1")

    assert (find().id, find().name) == (first["ImageId"], first["Name"])
    newer = faults.publish_image(paper_cloud.endpoint)
    assert find().id == newer
