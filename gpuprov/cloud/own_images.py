"""Base images that a spec names itself: by id, by a parameter of the Systems Manager, or by owner and name."""

import re
from collections.abc import Mapping
from typing import Any, Final

from gpuprov.cloud.aws_errors import code_of
from gpuprov.cloud.images_aws import ARCHITECTURES, describe, newest, one
from gpuprov.cloud.lookup_natural import Client
from gpuprov.lock.types import LockedImage
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.spec.base_image import BaseImageSpec

_ID: Final = re.compile(r"ami-([0-9a-f]{8}|[0-9a-f]{17})")
_NO_PARAMETER: Final = frozenset({"ParameterNotFound", "ParameterVersionNotFound"})


def find(client: Client, base: BaseImageSpec, os: str, arch: str, region: str) -> LockedImage:
    """Look a base image up; see `Account.find_base_image`.

    Args:
        client: service name -> boto3 client.
        base: what the spec says of it.
        os: the operating system that it must be; nothing in EC2 says that it is, the probe of a host does.
        arch: the architecture that it must have.
        region: for words.
    """
    place = f"{os} ({arch})"
    ec2 = client("ec2")
    if base.owner:
        image = _by_name(ec2, base, place, arch, region)
    else:
        image_id = base.id or _by_parameter(client("ssm"), base.parameter, place, region)
        found = one(ec2, image_id)
        if found is None or found.get("State") != "available":
            raise _none(
                place,
                f"the image {image_id} is not there, or not shared with this account",
                f"looked in {region} by {base}" + (f"; its state is {found['State']}" if found else ""),
                "an image belongs to one region: take that region's id, or `owner` and `name`",
            )
        image = found
    _check_architecture(image, place, arch, base)
    return LockedImage(
        os=os,
        arch=arch,
        region=region,
        owner=str(image.get("OwnerId", "")),
        name=str(image.get("Name", "")),
        id=image["ImageId"],
        origin=str(base),
    )


def _by_parameter(ssm: Any, name: str, place: str, region: str) -> str:
    """The id that a parameter holds. A wrong name is told as such: no other spelling, and no other system, is tried."""
    try:
        value = str(ssm.get_parameter(Name=name)["Parameter"]["Value"])
    except ssm.exceptions.ClientError as error:
        if code_of(error) not in _NO_PARAMETER:
            raise
        above = name.rpartition("/")[0]
        raise _none(
            place,
            f"{region} has no parameter {name}",
            "names of public parameters differ from the names of the images in spelling and in parts",
            f"see what there is: `aws ssm get-parameters-by-path --recursive --path {above} --region {region}`",
        ) from error
    if _ID.fullmatch(value) is None:
        raise _none(
            place,
            f"the parameter {name} holds no image's id",
            f"it holds {value[:60]}",
            "some publishers keep a text with several values; name the parameter below it that holds the id alone",
        )
    return value


def _by_name(ec2: Any, base: BaseImageSpec, place: str, arch: str, region: str) -> Mapping[str, Any]:
    filters = [
        {"Name": "name", "Values": [base.name]},
        {"Name": "architecture", "Values": [ARCHITECTURES[arch]]},
        {"Name": "state", "Values": ["available"]},
    ]
    found = describe(ec2, Owners=[base.owner], Filters=filters)
    if not found:
        raise _none(
            place,
            f"the owner {base.owner} has no image named `{base.name}` for {arch} in {region}",
            "looked at images that are available, and shared with this account",
            f"see `aws ec2 describe-images --owners {base.owner} --region {region}`",
        )
    return newest(found)


def _check_architecture(image: Mapping[str, Any], place: str, arch: str, base: BaseImageSpec) -> None:
    has, asked = str(image.get("Architecture", "")), ARCHITECTURES[arch]
    if has != asked:
        raise GpuprovError(
            Diagnostic(
                code="GP-CLOUD-070",
                address=place,
                summary=f"the image {image['ImageId']} is for {has}, and the pool's hosts are {asked}",
                detail=f"it was found by {base}",
                hint="name an image for each architecture: `bases: {OS-amd64: ..., OS-arm64: ...}`",
            )
        )


def _none(place: str, summary: str, detail: str, hint: str) -> GpuprovError:
    return GpuprovError(Diagnostic(code="GP-CLOUD-018", address=place, summary=summary, detail=detail, hint=hint))
