"""The real engine, `stacks/aws` and the strict plugin on moto alone, without nodes: the life of a stack."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from aws_modules import load_modules
from cloud_builders import ACCOUNT, REGION, STORAGE, TYPE, ZONES, cloud_document, cloud_network, cloud_pool, cloud_spec

from gpuprov.cloud.decide.document import data_document, standing_document
from gpuprov.cloud.decide.standing import Standing, standing_of
from gpuprov.cloud.engine import find_engine
from gpuprov.cloud.judgement import judge
from gpuprov.cloud.stack import CloudStack
from gpuprov.cloud.types import Applied, Document, StackPlace
from gpuprov.model.progress import Progress
from gpuprov.model.resource import ResourcePlan
from gpuprov.spec.cloud import PoolCloudSpec
from gpuprov.spec.storage import StorageSpec

pytestmark = [pytest.mark.lab, pytest.mark.timeout(420)]

MOTO = {
    "MOTO_ACCOUNT_ID": ACCOUNT,
    "MOTO_EC2_LOAD_DEFAULT_AMIS": "false",
    "MOTO_ENABLE_AMI_VALIDATION": "true",
    "MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION": "true",
}
OFFERS = {TYPE: ZONES[TYPE], "g6.xlarge": ZONES[TYPE]}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def silent(progress: Progress) -> None:
    del progress


class Ground:
    """An account and one stack in it."""

    def __init__(self, folder: Path, endpoint: str) -> None:
        load_modules()
        engine = find_engine(os.environ)
        self.stack = CloudStack(StackPlace(name="train", folder=folder, environment={}, region=REGION), engine)
        self.ec2: Any = boto3.client("ec2", endpoint_url=endpoint)
        self.s3: Any = boto3.client("s3", endpoint_url=endpoint)
        self.iam: Any = boto3.client("iam", endpoint_url=endpoint)
        self.images = [
            self.ec2.register_image(Name=name, RootDeviceName="/dev/xvda", Architecture="x86_64")["ImageId"]
            for name in ("older", "newer")
        ]

    @property
    def standing(self) -> Standing:
        return standing_of({address: resource.inputs for address, resource in self.stack.state().resources.items()})

    def look(self, document: Document, named: Collection[str] = ()) -> ResourcePlan:
        return self.stack.preview(document, replace=named, report=silent)

    def make(self, document: Document, named: Collection[str] = ()) -> tuple[dict[str, str], Applied]:
        """Give what changed: address -> action."""
        plan = self.look(document, named)
        applied = self.stack.apply(document, replace=named, report=silent)
        assert applied.diagnostics == ()
        changed = {change.address: str(change.action) for change in applied.changed}
        assert changed == {change.address: str(change.action) for change in plan.changes}
        return changed, applied

    def volumes(self) -> dict[str, int]:
        """Volumes of the spec in the account: id -> attachments; without the instances' own."""
        found = self.ec2.describe_volumes(Filters=[{"Name": "tag:gpuprov:id", "Values": ["train/volume/*"]}])
        return {volume["VolumeId"]: len(volume["Attachments"]) for volume in found["Volumes"]}


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true"}
    server, plugin = free_port(), free_port()
    endpoint = f"http://127.0.0.1:{server}"
    for name, value in {
        **keys,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ENDPOINT_URL": endpoint,
        "PULUMI_DEBUG_PROVIDERS": f"aws:{plugin}",
    }.items():
        monkeypatch.setenv(name, value)
    commands = (
        (server, ("-m", "moto.server", "-H", "127.0.0.1", "-p", str(server))),
        (plugin, ("-m", "gpuprov.lab.aws.plugin", "-", str(plugin), endpoint)),
    )
    with ExitStack() as ending:
        for port, arguments in commands:
            log = ending.enter_context((tmp_path / f"{arguments[1]}.log").open("wb"))
            process = subprocess.Popen((sys.executable, *arguments), stdout=log, stderr=log, env=os.environ | MOTO)
            ending.callback(process.wait)
            ending.callback(process.terminate)
            wait_for(port, process)
        yield Ground(tmp_path / "cloud", endpoint)


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert process.poll() is None, process.args
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError(f"nothing answers on port {port}")


def test_the_life_of_a_stack(ground: Ground) -> None:
    older, newer = ground.images
    spec = cloud_spec()
    before = ground.ec2.describe_vpcs()["Vpcs"]

    changed, applied = ground.make(cloud_document(spec, images={"train": older}))
    assert set(changed.values()) == {"create"}
    assert {host.image for host in applied.made.hosts} == {older}
    assert all(host.public_address and host.private_address for host in applied.made.hosts)

    later = cloud_document(spec, images={"train": newer}, login_keys=("ssh-ed25519 other",), standing=ground.standing)
    assert ground.make(later)[0] == {}

    grown = cloud_spec(
        cloud_pool(hosts=("train-a", "train-b", "train-c")),
        network=cloud_network(zones=(f"{REGION}b", f"{REGION}a")),
        storage={**STORAGE, "archive": StorageSpec(kind="volume", size="5GiB")},
    )
    changed, applied = ground.make(cloud_document(grown, images={"train": newer}, standing=ground.standing))
    assert set(changed.values()) == {"create"}
    zones = {host.name: (host.zone[-1], host.image) for host in applied.made.hosts}
    assert zones == {"train-a": ("a", older), "train-b": ("a", older), "train-c": ("b", newer)}

    volumes = dict(applied.made.volumes)
    anew = cloud_document(grown, images={"train": newer}, standing=ground.standing, replace=("train-b",))
    changed, applied = ground.make(anew, ("train-b",))
    assert changed == dict.fromkeys(
        ("instance.train-b", "volume_attachment.scratch/train-b", "volume_attachment.archive/train-b"), "replace"
    )
    assert {host.name: host.image for host in applied.made.hosts} == {
        "train-a": older,
        "train-b": newer,
        "train-c": newer,
    }
    assert applied.made.volumes == volumes

    ground.make(data_document(standing_document(grown, ground.standing), delete=()))
    assert ground.volumes() == dict.fromkeys(volumes.values(), 0)
    assert ground.ec2.describe_vpcs()["Vpcs"] == before
    assert ground.iam.list_roles()["Roles"] == []

    _, applied = ground.make(cloud_document(grown, images={"train": newer}, standing=ground.standing))
    assert applied.made.volumes == volumes
    assert ground.volumes() == dict.fromkeys(volumes.values(), 1)
    assert {host.name: host.zone[-1] for host in applied.made.hosts} == {"train-a": "a", "train-b": "a", "train-c": "b"}

    named = {"scratch", "archive", "datasets"}
    ground.make(data_document(standing_document(grown, ground.standing), delete=named))
    ground.stack.remove(report=silent)
    assert (ground.volumes(), ground.s3.list_buckets()["Buckets"]) == ({}, [])
    assert not ground.stack.state().exists


def test_what_changes_a_standing_host(ground: Ground) -> None:
    first = {"train": ground.images[0]}
    ground.make(cloud_document(cloud_spec(), images=first))

    other = replace(cloud_pool(), cloud=PoolCloudSpec(instance="g6.xlarge", hosts=("train-a", "train-b"), root=300))
    plan = ground.look(cloud_document(cloud_spec(other), zones=OFFERS, standing=ground.standing))
    found = {change.address: (str(change.action), change.reasons) for change in plan.changes}
    assert found["instance.train-a"] == ("replace", ("instanceType",))

    larger = replace(cloud_pool(), cloud=PoolCloudSpec(instance=TYPE, hosts=("train-a", "train-b"), root=300))
    doors = cloud_network(ranges={"office": ("203.0.113.0/24", "192.0.2.0/24")})
    bare = {"scratch": replace(STORAGE["scratch"], size="501GiB")}
    spec = cloud_spec(larger, network=doors, storage=bare)
    changed, _ = ground.make(cloud_document(spec, images=first, standing=ground.standing))
    assert {address: action for address, action in changed.items() if not address.startswith("bucket")} == {
        "ingress.22/192.0.2.0/24": "create",
        "volume.scratch/train-a": "update",
        "volume.scratch/train-b": "update",
        "instance.train-a": "update",
        "instance.train-b": "update",
        "role_policy.main": "delete",
    }
    assert ground.make(cloud_document(spec, images=first, standing=ground.standing))[0] == {}

    # A volume goes with its host: the old instance first, so that nothing is taken off a running one.
    none = cloud_spec(larger, network=doors, storage={})
    named = ("train-a", "train-b", "scratch")
    changed, applied = ground.make(cloud_document(none, standing=ground.standing, replace=named, images=first), named)
    assert (changed["instance.train-a"], changed["volume.scratch/train-a"]) == ("replace", "delete")
    assert not [address for address in ground.stack.state().resources if address.startswith("volume")]
    assert (applied.made.volumes, ground.volumes()) == ({}, {})


def test_shared_storage_is_reached_by_hosts_and_outlives_them(ground: Ground) -> None:
    efs: Any = boto3.client("efs", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
    spec = cloud_spec(storage={"data": StorageSpec(kind="shared", mount="/data")})
    document = cloud_document(spec, images={"train": ground.images[0]})
    changed, applied = ground.make(document)
    ours = {"share.data", f"mount_target.data/{REGION}a", "security_group.shares", "ingress.shares"}
    assert ours <= {address for address, action in changed.items() if action == "create"}
    (share,) = efs.describe_file_systems()["FileSystems"]
    assert (share["Encrypted"], share["ThroughputMode"], share["NumberOfMountTargets"]) == (True, "elastic", 1)
    assert applied.made.shares == {"data": f"{share['FileSystemId']}.efs.{REGION}.amazonaws.com"}
    assert ground.make(cloud_document(spec, images={}, standing=ground.standing))[0] == {}

    # The spec lost it, and hosts have it mounted: it goes when it is named, and is never made anew.
    none = replace(spec, storage={})
    assert ground.make(cloud_document(none, images={}, standing=ground.standing))[0] == {}
    anew = ground.look(cloud_document(spec, images={}, standing=ground.standing), ["data"])
    assert [refusal.address for refusal in judge(anew, named=["data"])] == ["share.data"]

    ground.make(data_document(standing_document(none, ground.standing), delete=()))
    assert [(s["FileSystemId"], s["NumberOfMountTargets"]) for s in efs.describe_file_systems()["FileSystems"]] == [
        (share["FileSystemId"], 0)
    ]
    gone = data_document(standing_document(none, ground.standing), delete=["data"])
    assert [refusal.address for refusal in judge(ground.look(gone), named=[])] == ["share.data"]
    ground.make(gone)
    assert efs.describe_file_systems()["FileSystems"] == []
