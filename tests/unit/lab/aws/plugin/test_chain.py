"""The whole chain: the document as gpuprov decides it, `stacks/aws`, the real engine, the plugin, the lab's account."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cloud_builders import STORAGE, cloud_document, cloud_pool, cloud_spec
from lab_account import IMAGE, REGION, TYPE, Cloud, lab_account
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID

from gpuprov.cloud.decide.document import data_document
from gpuprov.cloud.engine import find_engine
from gpuprov.cloud.stack import CloudStack
from gpuprov.cloud.types import Document, StackPlace
from gpuprov.lab.aws.faults import Fault
from gpuprov.lab.aws.plugin.server import PluginServer
from gpuprov.model.resource import ResourceAction

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),  # the engine starts several times
    # An engine that fails leaves the SDK's own event loop unclosed (SDK 3.272, 2026-11-30).
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[tuple[Cloud, CloudStack]]:
    """An account and a stack that makes resources in it."""
    for service in ("iam", "s3"):
        get_backend(service)[DEFAULT_ACCOUNT_ID]["aws"].reset()
    with lab_account(tmp_path) as cloud:
        server = PluginServer(endpoint=cloud.endpoint)
        server.start()
        environment = {"PULUMI_DEBUG_PROVIDERS": f"aws:{server.port}", "AWS_REGION": REGION}
        place = StackPlace(name="train", folder=tmp_path / "stack", environment=environment, region=REGION)
        yield cloud, CloudStack(place, find_engine(os.environ))
        server.stop()


def document(*hosts: str, **changes: Any) -> Document:
    """The document of a spec with a bucket, and a volume per host."""
    spec = cloud_spec(cloud_pool(hosts=hosts, instance=TYPE), storage=STORAGE, **changes)
    return cloud_document(spec, zones={TYPE: (f"{REGION}a",)}, images={"train": IMAGE})


def remove(stack: CloudStack, asked: Document) -> None:
    """Remove all, data too."""
    emptied = data_document(asked, delete=("datasets", "scratch"))
    stack.preview(emptied, report=lambda _: None)
    assert stack.apply(emptied, report=lambda _: None).diagnostics == ()
    stack.remove(report=lambda _: None)


def counted(cloud: Cloud) -> dict[str, int]:
    """How much of what the stack makes is in the account."""
    ec2, iam, s3 = (cloud.client(service) for service in ("ec2", "iam", "s3"))
    asked: dict[str, Callable[[], list[Any]]] = {
        "vpcs": lambda: [vpc for vpc in ec2.describe_vpcs()["Vpcs"] if not vpc["IsDefault"]],
        "volumes": lambda: ec2.describe_volumes(Filters=[{"Name": "tag-key", "Values": ["gpuprov:id"]}])["Volumes"],
        "instances": lambda: [
            instance
            for reservation in ec2.describe_instances()["Reservations"]
            for instance in reservation["Instances"]
            if instance["State"]["Name"] != "terminated"
        ],
        "roles": lambda: [role for role in iam.list_roles()["Roles"] if role["RoleName"].startswith("gpuprov")],
        "buckets": lambda: s3.list_buckets()["Buckets"],
    }
    return {name: len(look()) for name, look in asked.items()}


def test_a_stack_is_made_kept_changed_and_removed(lab: tuple[Cloud, CloudStack]) -> None:
    cloud, stack = lab
    before = counted(cloud)
    asked = document("train-a", "train-b")
    applied = stack.apply(asked, report=lambda _: None)
    assert applied.diagnostics == ()
    assert {host.name for host in applied.made.hosts} == {"train-a", "train-b"}
    assert counted(cloud)["instances"] == before["instances"] + 2
    again = stack.preview(asked, report=lambda _: None)
    assert again.changes == ()
    refreshed = stack.preview(asked, report=lambda _: None, refresh=True)
    assert refreshed.changes == ()
    smaller = stack.preview(document("train-a"), report=lambda _: None)
    gone = {change.address for change in smaller.changes if change.action is ResourceAction.DELETE}
    assert "instance.train-b" in gone
    assert not any("train-a" in address for address in gone)
    remove(stack, asked)
    assert counted(cloud) == before


def test_no_capacity_is_told_as_such_and_the_next_run_goes_on(lab: tuple[Cloud, CloudStack]) -> None:
    cloud, stack = lab
    fault = cloud.account.book.add(Fault(kind="capacity"))
    failed = stack.apply(document("train-a"), report=lambda _: None)
    assert [each.code for each in failed.diagnostics] == ["GP-CLOUD-008"], failed.diagnostics
    cloud.account.book.remove(fault)
    assert stack.apply(document("train-a"), report=lambda _: None).diagnostics == ()
    assert counted(cloud)["instances"] == 1


def test_another_network_replaces_what_is_in_it(lab: tuple[Cloud, CloudStack]) -> None:
    _, stack = lab
    assert stack.apply(document("train-a"), report=lambda _: None).diagnostics == ()
    spec = cloud_spec(cloud_pool(hosts=("train-a",), instance=TYPE), storage=STORAGE)
    assert spec.cloud is not None
    moved = replace(spec, cloud=replace(spec.cloud, network=replace(spec.cloud.network, cidr="10.99.0.0/16")))
    asked = cloud_document(moved, zones={TYPE: (f"{REGION}a",)}, images={"train": IMAGE})
    plan = stack.preview(asked, report=lambda _: None)
    replaced = {change.address: change.reasons for change in plan.changes if change.action is ResourceAction.REPLACE}
    assert replaced["vpc.main"] == ("cidrBlock",)
    assert "subnetId" in replaced["instance.train-a"]
    assert not any(address.startswith(("bucket", "volume.")) for address in replaced)
