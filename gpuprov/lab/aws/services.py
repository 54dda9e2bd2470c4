"""The two processes of a lab's AWS, the API and the resource plugin: started, awaited, looked at."""

import importlib.util
import socket
import sys
import time

from gpuprov.lab.aws import vpcs
from gpuprov.lab.aws.network import cloud_of
from gpuprov.lab.aws.nodes import cloud_node
from gpuprov.lab.command import failure
from gpuprov.lab.description import LabDescription
from gpuprov.lab.names import LabNames
from gpuprov.lab.node import answers, start_service
from gpuprov.lab.record import LabRecord
from gpuprov.lab.state import CloudStatus, InstanceStatus, Power

HOST = "127.0.0.1"
_LIBRARIES = ("moto", "flask", "flask_cors", "boto3", "grpc", "pulumi_aws")
_SECONDS = 120.0
_POLL = 0.05


def require_libraries() -> None:
    """Check that what the lab's AWS is built on is installed.

    Raises:
        GpuprovError: something is not.
    """
    absent = [name for name in _LIBRARIES if importlib.util.find_spec(name) is None]
    if absent:
        raise failure(
            f"the lab's cloud needs Python packages that are not installed: {', '.join(absent)}",
            hint="pip install 'gpuprov[lab]', or have a lab without a cloud: --no-cloud",
        )


def free_port(port: int) -> bool:
    """Whether a loopback port is free at this moment."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((HOST, port))
        except OSError:
            return False
    return True


def start_services(lab: LabDescription) -> None:
    """Start the API and the plugin; both read the lab's record."""
    names, cloud = LabNames(lab.id), cloud_of(lab)
    names.cloud_folder.mkdir(parents=True, exist_ok=True)
    python = [sys.executable, "-m"]
    start_service([*python, "gpuprov.lab.aws.server", lab.id], log=names.cloud_folder / "server.log")
    plugin = ["gpuprov.lab.aws.plugin", lab.id, str(cloud.plugin_port), cloud.endpoint]
    start_service([*python, *plugin], log=names.cloud_folder / "plugin.log")


def wait_services(lab: LabDescription) -> None:
    """Wait until both answer.

    Raises:
        GpuprovError: one does not in time; the detail has its log's end.
    """
    names, cloud = LabNames(lab.id), cloud_of(lab)
    deadline = time.monotonic() + _SECONDS
    for what, log, port in (
        ("AWS's API", "server.log", cloud.api_port),
        ("the resource plugin", "plugin.log", cloud.plugin_port),
    ):
        while not answers(HOST, port):
            if time.monotonic() > deadline:
                text = (names.cloud_folder / log).read_text(encoding="utf-8", errors="replace")
                raise failure(f"{what} of the lab does not answer on port {port}", detail=text[-2000:])
            time.sleep(_POLL)


def observe(record: LabRecord) -> CloudStatus | None:
    """Look at a lab's cloud; None when the lab has none."""
    lab = record.description
    if lab.cloud is None:
        return None
    instances = []
    for link in vpcs.read_links(lab):
        way_in = cloud_node(lab, link.instance_id, record.folder)
        power = Power.ON if way_in.leader() is not None else Power.OFF
        instances.append(
            InstanceStatus(
                id=link.instance_id,
                private_address=link.private_address,
                public_address=link.public_address,
                power=power,
            )
        )
    return CloudStatus(
        account=lab.cloud.account,
        region=lab.cloud.region,
        endpoint=lab.cloud.endpoint,
        api=answers(HOST, lab.cloud.api_port),
        plugin=answers(HOST, lab.cloud.plugin_port),
        instances=tuple(instances),
    )
