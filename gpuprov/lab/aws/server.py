"""The lab's AWS as a process: `python -m gpuprov.lab.aws.server LAB`.

It joins the lab's cgroup, so that it goes with the lab; standard output is its log.
"""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuprov.lab import cgroup
from gpuprov.lab.command import failure
from gpuprov.lab.description import CloudDescription, LabDescription
from gpuprov.lab.names import LabNames
from gpuprov.lab.record import read_record
from gpuprov.model.diagnostic import GpuprovError

if TYPE_CHECKING:
    from gpuprov.lab.aws.gateway import Gateway
    from gpuprov.lab.aws.securitygroups import InstanceRules

ADDRESS = "127.0.0.1"


def settings(cloud: CloudDescription) -> Mapping[str, str]:
    """Return what moto reads from its environment when it is imported: the account, and its own checks switched on."""
    return {
        "MOTO_ACCOUNT_ID": cloud.account,
        "MOTO_PORT": str(cloud.api_port),
        "MOTO_ENABLE_AMI_VALIDATION": "true",
        "MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION": "true",
        "MOTO_ENABLE_KEYPAIR_VALIDATION": "true",
        "MOTO_EC2_LOAD_DEFAULT_AMIS": "false",
    }


def build(lab: LabDescription, folder: Path) -> "Gateway":
    """Make the application of a lab's AWS, with every hook in place.

    Args:
        lab: the lab; it has a cloud.
        folder: where the person's files are.

    Raises:
        GpuprovError: the lab has no cloud, or moto lacks what the hooks are for.
    """
    cloud = lab.cloud
    if cloud is None:
        raise failure(f"the lab {lab.id} has no cloud", address=f"lab {lab.id}")
    os.environ.update(settings(cloud))
    # Only now: moto reads its settings when it is imported.
    from moto.ec2.models import ec2_backends  # noqa: PLC0415

    from gpuprov.lab.aws.account import Account  # noqa: PLC0415
    from gpuprov.lab.aws.base import ensure_cloud_base  # noqa: PLC0415
    from gpuprov.lab.aws.faults import FaultBook  # noqa: PLC0415
    from gpuprov.lab.aws.images import ImageStore  # noqa: PLC0415
    from gpuprov.lab.aws.node_machine import NodeMachine  # noqa: PLC0415
    from gpuprov.lab.aws.volumes import VolumeStore  # noqa: PLC0415
    from gpuprov.lab.aws.wiring import wire  # noqa: PLC0415

    names = LabNames(lab.id)
    account = Account(
        cloud=cloud,
        backend=ec2_backends[cloud.account][cloud.region],
        book=FaultBook(),
        images=ImageStore(names.images_folder, lambda os_id: ensure_cloud_base(os_id, lambda _: None)),
        volumes=VolumeStore(names.volumes_folder),
        network=_Networks(lab),
        make_machine=lambda instance_id: NodeMachine(lab, instance_id, folder),
        say=say,
    )
    application, _ = wire(account)
    return application


class _Networks:
    """The lab's networks, as the account asks for them."""

    def __init__(self, lab: LabDescription) -> None:
        self._lab = lab

    def make_vpc(self, vpc_id: str, cidr: str) -> None:
        """Make a VPC's router."""
        from gpuprov.lab.aws import network  # noqa: PLC0415

        network.make_vpc(self._lab, vpc_id, cidr)

    def remove_vpc(self, vpc_id: str) -> None:
        """Remove it."""
        from gpuprov.lab.aws import network  # noqa: PLC0415

        network.remove_vpc(self._lab, vpc_id)

    def set_rules(self, vpc_id: str, rules: "Sequence[InstanceRules]") -> None:
        """Let these rules hold."""
        from gpuprov.lab.aws import network  # noqa: PLC0415

        network.set_rules(self._lab, vpc_id, rules)


def say(text: str) -> None:
    """Write a line to the log."""
    print(time.strftime("%H:%M:%SZ", time.gmtime()), text, flush=True)  # noqa: T201 (standard output is the log)


def serve(application: Any, port: int) -> None:
    """Serve until the process is ended."""
    from moto.moto_server.werkzeug_app import MotoRequestHandler  # noqa: PLC0415
    from werkzeug.serving import make_server  # noqa: PLC0415

    class Handler(MotoRequestHandler):  # type: ignore[misc]
        """Leaves the log of requests to the gateway, which knows what was asked."""

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Write nothing."""

    make_server(ADDRESS, port, application, threaded=True, request_handler=Handler).serve_forever()


def main(lab_id: str) -> None:
    """Join the lab's cgroup, then serve its AWS.

    Raises:
        GpuprovError: there is no such lab, or it has no cloud.
    """
    cgroup.join(LabNames(lab_id).supervisors_cgroup)
    record = read_record(lab_id)
    if record is None or record.description.cloud is None:
        raise failure(f"there is no lab {lab_id} with a cloud", address=f"lab {lab_id}")
    application = build(record.description, record.folder)
    say(f"the AWS of lab {lab_id}: account {record.description.cloud.account}")
    serve(application, record.description.cloud.api_port)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except GpuprovError as error:
        sys.exit(str(error))
