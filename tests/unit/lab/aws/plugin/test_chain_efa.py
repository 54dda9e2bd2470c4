"""Elastic Fabric Adapters through the whole chain: decided, made by the real engine in the lab's account, and gone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cloud_builders import cloud_document, cloud_network, cloud_pool, cloud_spec
from lab_account import IMAGE, REGION, Cloud, lab_account
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID

from gpuprov.app.cloud_records import standing_in
from gpuprov.cloud import lookup
from gpuprov.cloud.decide.document import data_document
from gpuprov.cloud.decide.grants import Ground
from gpuprov.cloud.decide.operator import operator_policy
from gpuprov.cloud.decide.standing import Standing
from gpuprov.cloud.engine import find_engine
from gpuprov.cloud.stack import CloudStack
from gpuprov.cloud.types import Document, StackPlace
from gpuprov.lab.aws.faults import Fault
from gpuprov.lab.aws.plugin.server import PluginServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),  # the engine starts several times, on a machine that does more
    # An engine that fails leaves the SDK's own event loop unclosed (SDK 3.272, 2026-11-30).
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
TYPE = "p5.48xlarge"
LISTED = {
    "describe_vpcs": "Vpcs",
    "describe_subnets": "Subnets",
    "describe_network_interfaces": "NetworkInterfaces",
    "describe_placement_groups": "PlacementGroups",
    "describe_launch_templates": "LaunchTemplates",
    "describe_security_groups": "SecurityGroups",
}


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[tuple[Cloud, CloudStack]]:
    """An account and a stack that makes resources in it."""
    get_backend("iam")[DEFAULT_ACCOUNT_ID]["aws"].reset()
    with lab_account(tmp_path) as cloud:
        server = PluginServer(endpoint=cloud.endpoint)
        server.start()
        environment = {"PULUMI_DEBUG_PROVIDERS": f"aws:{server.port}", "AWS_REGION": REGION}
        place = StackPlace(name="train", folder=tmp_path / "stack", environment=environment, region=REGION)
        yield cloud, CloudStack(place, find_engine(os.environ))
        server.stop()


def document(efa: str | None, standing: Standing | None = None, **changes: Any) -> Document:
    """The document of two hosts close together."""
    pool = cloud_pool(instance=TYPE)
    assert pool.cloud is not None
    pool = replace(pool, cloud=replace(pool.cloud, placement="cluster", efa=efa))
    network = cloud_network(public=False, egress="endpoints")
    spec = cloud_spec(pool, storage={}, network=network)
    found = standing or Standing()
    return cloud_document(spec, zones={TYPE: (f"{REGION}a",)}, images={"train": IMAGE}, standing=found, **changes)


def listing(cloud: Cloud) -> dict[str, int]:
    """How much there is in the account."""
    ec2: Any = cloud.client("ec2")
    return {field: len(getattr(ec2, call)()[field]) for call, field in LISTED.items()}


def more(cloud: Cloud, before: dict[str, int]) -> dict[str, int]:
    return {name: count - before[name] for name, count in listing(cloud).items() if count != before[name]}


THERE = {"Vpcs": 1, "Subnets": 1, "SecurityGroups": 2, "PlacementGroups": 1, "LaunchTemplates": 1}


@contextmanager
def allowed(cloud: Cloud, *commands: str) -> Iterator[None]:
    """The policy that gpuprov prints for these commands is in force, and nothing beside it is allowed."""
    ground = Ground(
        spec="train",
        account=DEFAULT_ACCOUNT_ID,
        region=REGION,
        types=(TYPE,),
        builder="c7i.2xlarge",
        images=(IMAGE,),
        placement=True,
        efa=True,
    )
    cloud.account.guard.put_in_force([operator_policy(ground, commands)])
    yield
    cloud.account.guard.take_off()


def remove(stack: CloudStack, asked: Document) -> None:
    """Remove all."""
    emptied = data_document(asked, delete=())
    stack.preview(emptied, report=lambda _: None)
    assert stack.apply(emptied, report=lambda _: None).diagnostics == ()
    stack.remove(report=lambda _: None)


def test_adapters_are_made_with_their_hosts_kept_and_gone_with_them(lab: tuple[Cloud, CloudStack]) -> None:
    cloud, stack = lab
    before = listing(cloud)
    asked = document("ip")
    with allowed(cloud, "up"):
        applied = stack.apply(asked, report=lambda _: None)
    assert applied.diagnostics == ()
    assert more(cloud, before) == THERE | {"NetworkInterfaces": 66}
    assert all(host.private_address and not host.public_address for host in applied.made.hosts)
    with allowed(cloud, "preview"):
        assert stack.preview(asked, report=lambda _: None, refresh=True).changes == ()
    with allowed(cloud, "destroy"):
        remove(stack, asked)
    assert listing(cloud) == before


@pytest.mark.matrix
def test_a_template_is_not_made_twice_and_hosts_keep_theirs_until_they_are_named(lab: tuple[Cloud, CloudStack]) -> None:
    cloud, stack = lab
    before = listing(cloud)
    asked = document("ip")
    # The template is made, and nobody hears of it: it is taken over.
    cloud.account.book.add(Fault(kind="cut", action="CreateLaunchTemplate", times=1))
    assert stack.apply(asked, report=lambda _: None).diagnostics != ()
    stack.recover(lambda token, key: lookup.find(cloud.client, token, key), lambda _: None, document=asked)
    stack.preview(asked, report=lambda _: None)
    assert stack.apply(asked, report=lambda _: None).diagnostics == ()
    assert more(cloud, before) == THERE | {"NetworkInterfaces": 66}

    # Taken out of the spec, the hosts keep what they have; the way between them stays open.
    standing = standing_in(stack.state())
    assert stack.preview(document(None, standing), report=lambda _: None).changes == ()
    # One that is named is made anew without; the other one keeps its template.
    anew = document(None, standing, replace=("train-a",))
    changes = stack.preview(anew, replace=("train-a",), report=lambda _: None).changes
    assert [(change.address, change.action.value) for change in changes] == [("instance.train-a", "replace")]
    assert stack.apply(anew, replace=("train-a",), report=lambda _: None).diagnostics == ()
    assert more(cloud, before) == THERE | {"NetworkInterfaces": 34}
    remove(stack, asked)
    assert listing(cloud) == before
