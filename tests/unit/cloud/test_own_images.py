"""Base images that a spec names: looked up in moto's EC2 and Systems Manager."""

from typing import Any

import pytest

from gpuprov.cloud import own_images
from gpuprov.lock.types import LockedImage
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.base_image import BaseImageSpec

pytestmark = pytest.mark.slow  # starts AWS's stand-in: not for `make quick`

GOLDEN = "/golden/debian-12"


@pytest.fixture
def find(account: Any) -> Any:
    """Look one up for amd64, or another architecture."""

    def ask(arch: str = "amd64", **base: str) -> LockedImage:
        return own_images.find(account._client, BaseImageSpec(**base), "debian-12", arch, "us-east-1")

    return ask


@pytest.fixture
def images(ec2: Any) -> list[str]:
    """Two images of this account for x86_64, the older one first, and one for arm64."""
    return [_register(ec2, f"golden-{n}", arch) for n, arch in ((1, "x86_64"), (2, "x86_64"), (3, "arm64"))]


def _register(ec2: Any, name: str, arch: str) -> str:
    """EC2 keeps the architecture of a registered image; moto 5.2.5 forgets it."""
    from moto.ec2.models import ec2_backends  # noqa: PLC0415 - after the server, which sets its variables

    image_id = str(ec2.register_image(Name=name, Architecture=arch, RootDeviceName="/dev/xvda")["ImageId"])
    ec2_backends["123456789012"]["us-east-1"].amis[image_id].architecture = arch
    return image_id


@pytest.fixture
def ssm(account: Any) -> Any:
    """The same account's Systems Manager."""
    return account._client("ssm")


def test_the_newest_of_a_name_and_an_architecture(find: Any, images: list[str]) -> None:
    found = find(owner="self", name="golden-*")
    assert (found.id, found.name, found.os, found.arch, found.region) == (
        images[1],
        "golden-2",
        "debian-12",
        "amd64",
        "us-east-1",
    )
    assert found.origin == "owner self, name golden-*"
    assert find(arch="arm64", owner="self", name="golden-*").id == images[2]


def test_an_id_is_looked_up_too(find: Any, images: list[str], ec2: Any) -> None:
    assert find(id=images[0]).name == "golden-1"
    ec2.deregister_image(ImageId=images[0])
    assert _code(find, id=images[0]) == "GP-CLOUD-018"


def test_a_parameter_leads_to_an_image(find: Any, images: list[str], ssm: Any) -> None:
    ssm.put_parameter(Name=GOLDEN, Value=images[0], Type="String")
    found = find(parameter=GOLDEN)
    assert (found.id, found.origin) == (images[0], f"parameter {GOLDEN}")
    ssm.put_parameter(Name=GOLDEN, Value=images[1], Type="String", Overwrite=True)
    assert find(parameter=GOLDEN).id == images[1]
    assert find(parameter=f"{GOLDEN}:1").id == images[0]


def test_a_parameter_that_holds_something_else(find: Any, ssm: Any) -> None:
    ssm.put_parameter(Name=GOLDEN, Value='{"image_id": "ami-1"}', Type="String")
    with pytest.raises(GpuprovError) as caught:
        find(parameter=GOLDEN)
    (told,) = caught.value.diagnostics
    assert (told.code, told.summary) == ("GP-CLOUD-018", f"the parameter {GOLDEN} holds no image's id")
    assert "image_id" in told.detail


def test_a34_a_wrong_name_of_a_parameter_is_told_and_nothing_else_is_tried(
    find: Any, images: list[str], ssm: Any
) -> None:
    """Report A34 (AWS DLAMI guide, find-dlami-id): the documented spelling lacks a part of the image's name."""
    right = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"
    with pytest.raises(GpuprovError) as caught:
        find(parameter=right.replace("-gpu", ""))
    (told,) = caught.value.diagnostics
    assert told.code == "GP-CLOUD-018"
    assert right.replace("-gpu", "") in told.summary
    assert "aws ssm get-parameters-by-path --recursive --path /aws/service/deeplearning" in told.hint
    assert images, "images of the account are no way out"
    del ssm


def test_another_architecture_is_refused(find: Any, images: list[str]) -> None:
    assert _code(find, arch="arm64", id=images[0]) == "GP-CLOUD-070"


def test_an_owner_without_such_an_image(find: Any, images: list[str]) -> None:
    assert images
    assert _code(find, owner="136693071363", name="golden-*") == "GP-CLOUD-018"


def _code(find: Any, **asked: str) -> str:
    with pytest.raises(GpuprovError) as caught:
        find(**asked)
    return caught.value.diagnostics[0].code
