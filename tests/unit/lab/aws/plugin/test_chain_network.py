"""Networks through the whole chain: looked up in the lab's account, decided, made by the real engine, and gone."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cloud_builders import cloud_document, cloud_network, cloud_pool, cloud_spec
from lab_account import IMAGE, REGION, TYPE, Cloud, lab_account
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID

from gpuprov.cloud import lookup
from gpuprov.cloud.decide.document import data_document
from gpuprov.cloud.engine import find_engine
from gpuprov.cloud.networks_aws import surroundings
from gpuprov.cloud.stack import CloudStack
from gpuprov.cloud.types import Document, StackPlace
from gpuprov.lab.aws.faults import Fault
from gpuprov.lab.aws.plugin.server import PluginServer
from gpuprov.spec.cloud import CloudNetworkSpec
from gpuprov.spec.cloud_network import ExistingNetworkSpec

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),  # the engine starts several times
    # An engine that fails leaves the SDK's own event loop unclosed (SDK 3.272, 2026-11-30).
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LISTED = {
    "describe_vpcs": "Vpcs",
    "describe_subnets": "Subnets",
    "describe_route_tables": "RouteTables",
    "describe_internet_gateways": "InternetGateways",
    "describe_addresses": "Addresses",
    "describe_vpc_endpoints": "VpcEndpoints",
    "describe_network_interfaces": "NetworkInterfaces",
    "describe_placement_groups": "PlacementGroups",
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


def document(cloud: Cloud, network: CloudNetworkSpec) -> Document:
    """The document of two hosts close together, with what the network names looked up in the account."""
    pool = cloud_pool(instance=TYPE)
    assert pool.cloud is not None
    spec = cloud_spec(replace(pool, cloud=replace(pool.cloud, placement="cluster")), storage={}, network=network)
    around = surroundings(cloud.client("ec2"), network, REGION)
    zones = {TYPE: (f"{REGION}a", f"{REGION}b")}
    return cloud_document(spec, zones=zones, images={"train": IMAGE}, around=around)


def listing(cloud: Cloud) -> dict[str, int]:
    """How much there is in the account."""
    ec2: Any = cloud.client("ec2")
    found = {field: len(getattr(ec2, call)()[field]) for call, field in LISTED.items()}
    nats = ec2.describe_nat_gateways(Filter=[{"Name": "state", "Values": ["pending", "available"]}])["NatGateways"]
    return found | {"NatGateways": len(nats)}


def made_and_kept(stack: CloudStack, asked: Document) -> dict[str, str]:
    """Make a document's resources; nothing is to be changed afterwards. Gives host -> subnet."""
    applied = stack.apply(asked, report=lambda _: None)
    assert applied.diagnostics == ()
    assert all(host.private_address and not host.public_address for host in applied.made.hosts)
    assert stack.preview(asked, report=lambda _: None, refresh=True).changes == ()
    return {host.name: host.instance_id for host in applied.made.hosts}


def remove(stack: CloudStack, asked: Document) -> None:
    """Remove all."""
    emptied = data_document(asked, delete=())
    stack.preview(emptied, report=lambda _: None)
    assert stack.apply(emptied, report=lambda _: None).diagnostics == ()
    stack.remove(report=lambda _: None)


def test_private_hosts_and_their_ways_out_are_made_kept_and_removed(lab: tuple[Cloud, CloudStack]) -> None:
    cloud, stack = lab
    before = listing(cloud)
    asked = document(cloud, cloud_network(public=False, endpoints=("ecr.api",)))
    made_and_kept(stack, asked)
    after = listing(cloud)
    more = {name: count - before[name] for name, count in after.items() if count != before[name]}
    assert more == {
        "Vpcs": 1,
        "Subnets": 2,
        "RouteTables": 3,
        "InternetGateways": 1,
        "Addresses": 1,
        "NatGateways": 1,
        "VpcEndpoints": 2,
        "NetworkInterfaces": 4,
        "PlacementGroups": 1,
        "SecurityGroups": 2,
    }
    remove(stack, asked)
    assert listing(cloud) == before


def test_a_network_that_is_there_is_used_and_left_as_it_was(lab: tuple[Cloud, CloudStack]) -> None:
    cloud, stack = lab
    ec2 = cloud.client("ec2")
    subnet = cloud.subnet(ec2)
    before = listing(cloud)
    network = cloud_network(
        cidr=None, existing=ExistingNetworkSpec(subnets=(subnet,)), public=False, egress="endpoints"
    )
    asked = document(cloud, network)
    ids = made_and_kept(stack, asked)
    found = ec2.describe_instances(InstanceIds=list(ids.values()))["Reservations"]
    assert {instance["SubnetId"] for row in found for instance in row["Instances"]} == {subnet}
    more = {name: count - before[name] for name, count in listing(cloud).items() if count != before[name]}
    assert more == {"NetworkInterfaces": 2, "PlacementGroups": 1, "SecurityGroups": 1}
    remove(stack, asked)
    assert listing(cloud) == before


@pytest.mark.parametrize(
    "action",
    [
        "CreateNatGateway",
        *(
            pytest.param(action, marks=pytest.mark.matrix)
            for action in ("AllocateAddress", "CreateVpcEndpoint", "CreatePlacementGroup", "CreateRoute")
        ),
    ],
)
def test_what_a_cut_connection_leaves_is_taken_over_and_not_made_twice(
    lab: tuple[Cloud, CloudStack], action: str
) -> None:
    cloud, stack = lab
    before = listing(cloud)
    asked = document(cloud, cloud_network(public=False))
    cloud.account.book.add(Fault(kind="cut", action=action, times=1))
    assert stack.apply(asked, report=lambda _: None).diagnostics != ()
    stack.recover(lambda token, key: lookup.find(cloud.client, token, key), lambda _: None, document=asked)
    stack.preview(asked, report=lambda _: None)
    assert stack.apply(asked, report=lambda _: None).diagnostics == ()
    more = {name: count - before[name] for name, count in listing(cloud).items() if count != before[name]}
    assert more == {
        "Vpcs": 1,
        "Subnets": 2,
        "RouteTables": 3,
        "InternetGateways": 1,
        "Addresses": 1,
        "NatGateways": 1,
        "VpcEndpoints": 1,
        "NetworkInterfaces": 3,
        "PlacementGroups": 1,
        "SecurityGroups": 2,
    }
    remove(stack, asked)
    assert listing(cloud) == before
