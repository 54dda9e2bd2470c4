"""Public parameters of the Systems Manager: the id of the newest base image, as its publisher keeps it.

Debian's are /aws/service/debian/release/RELEASE/latest/ARCH, Canonical's /aws/service/canonical/ubuntu/server/RELEASE/
stable/current/ARCH/hvm/ebs-gp3/ami-id: so public projects read them (several on GitHub each, seen 2026-11-30; AWS's own
list was not asked).
"""

from datetime import UTC, datetime
from typing import Any

from gpuprov.lab.aws.images import os_of


def parameter_of(name: str) -> str:
    """The parameter that holds the id of the newest image of a base image's OS.

    Args:
        name: the image's, `debian-12-amd64-20261117-2300`.
    """
    system, _, release = os_of(name).partition("-")
    if system == "debian":
        return f"/aws/service/debian/release/{release}/latest/amd64"
    return f"/aws/service/canonical/ubuntu/server/{release}/stable/current/amd64/hvm/ebs-gp3/ami-id"


def publish_parameter(backend: Any, *, image_id: str, name: str) -> None:
    """Have the publisher's parameter hold an image; its version rises, and its older values stay.

    Args:
        backend: moto's of EC2: says which account and region.
        image_id: the image.
        name: its name.
    """
    from moto.ssm.models import Parameter, ssm_backends  # noqa: PLC0415 (moto reads its settings when it is imported)

    # Written past moto's own call: it lets nobody write names that begin with /aws, as AWS does.
    versions = ssm_backends[backend.account_id][backend.region_name]._parameters[parameter_of(name)]  # noqa: SLF001
    versions.append(
        Parameter(
            account_id=backend.account_id,
            name=parameter_of(name),
            value=image_id,
            parameter_type="String",
            description=None,
            allowed_pattern=None,
            keyid=None,
            last_modified_date=datetime.now(UTC),
            version=len(versions) + 1,
            data_type="aws:ec2:image",
        )
    )
