"""Reserved capacity, spot and fleets in part through the whole chain: decided, made by the real engine, read back."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cloud_builders import cloud_document, cloud_pool, cloud_spec
from lab_account import IMAGE, REGION, TYPE, ZONE, Cloud, lab_account
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID

from gpuprov.cloud import capacity_aws
from gpuprov.cloud.decide.market import Bought
from gpuprov.cloud.decide.standing import Standing, standing_of
from gpuprov.cloud.engine import find_engine
from gpuprov.cloud.stack import CloudStack
from gpuprov.cloud.types import Document, StackPlace
from gpuprov.lab.aws.capacity import reserve
from gpuprov.lab.aws.faults import Fault
from gpuprov.lab.aws.plugin.server import PluginServer
from gpuprov.spec.market import MarketSpec

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


def document(cloud: Cloud, stack: CloudStack, market: MarketSpec, *hosts: str, **more: Any) -> Document:
    """The document of a pool that is bought so, beside what stands."""
    pool = cloud_pool(hosts=hosts, instance=TYPE)
    assert pool.cloud is not None
    spec = cloud_spec(replace(pool, cloud=replace(pool.cloud, market=market)), storage={})
    held = capacity_aws.reservations(cloud.client("ec2"), None, id_=market.id, group="") if market.id else ()
    return cloud_document(
        spec,
        zones={TYPE: (ZONE,)},
        images={"train": IMAGE},
        reservations={"train": held},
        standing=standing(stack),
        **more,
    )


def standing(stack: CloudStack) -> Standing:
    return standing_of({address: row.inputs for address, row in stack.state().resources.items()})


def test_hosts_keep_how_they_were_bought_and_new_ones_are_bought_as_the_spec_says(
    lab: tuple[Cloud, CloudStack],
) -> None:
    cloud, stack = lab
    id_ = reserve(cloud.endpoint, type=TYPE, zone=ZONE, kind="capacity-block", total=1)
    block = MarketSpec(kind="capacity-block", id=id_)
    assert stack.apply(document(cloud, stack, block, "a"), report=lambda _: None).diagnostics == ()
    assert standing(stack).hosts["a"].bought == Bought(kind="capacity-block", reservation=id_)

    spot = document(cloud, stack, MarketSpec(kind="spot"), "a", "b")
    plan = stack.preview(spot, report=lambda _: None)
    assert [change.address for change in plan.changes] == ["instance.b"]
    assert stack.apply(spot, report=lambda _: None).diagnostics == ()
    assert {name: host.bought.kind for name, host in standing(stack).hosts.items()} == {
        "a": "capacity-block", "b": "spot",
    }  # fmt: skip
    # Read anew from the account, nothing differs, and the state still knows.
    assert stack.preview(spot, report=lambda _: None, refresh=True).changes == ()

    # The block is full; somebody else may be faster than a look at it.
    late = with_one_more(spot, "c", id_)
    stack.preview(late, report=lambda _: None)
    failed = stack.apply(late, report=lambda _: None)
    assert [each.code for each in failed.diagnostics] == ["GP-CLOUD-008"], failed.diagnostics
    assert {host.name for host in failed.made.hosts} == {"a", "b"}


def with_one_more(document: Document, host: str, reservation: str) -> Document:
    """The document with one more host in a block, as if that had had room when it was decided."""
    instances = document["instances"]
    assert isinstance(instances, list)
    entry = instances[0] | {
        "name": host,
        "market": {"kind": "capacity-block", "max_price": None, "reservation": reservation},
        "tags": {"Name": host, "gpuprov:id": f"train/instance/{host}"},
    }
    return {**document, "instances": [*instances, entry]}


def test_what_does_not_depend_on_a_failure_is_made_where_that_will_do(lab: tuple[Cloud, CloudStack]) -> None:
    cloud, stack = lab
    cloud.account.book.add(Fault(kind="capacity", times=1))
    asked = document(cloud, stack, MarketSpec(), "a", "b", "c")
    applied = stack.apply(asked, report=lambda _: None, keep_going=True)
    assert [each.code for each in applied.diagnostics] == ["GP-CLOUD-008"], applied.diagnostics
    assert len(applied.made.hosts) == 2
    assert (
        applied.diagnostics[0].address == f"instance.{({'a', 'b', 'c'} - {h.name for h in applied.made.hosts}).pop()}"
    )
    assert stack.apply(asked, report=lambda _: None, keep_going=True).diagnostics == ()
    assert {host.name for host in stack.state().made.hosts} == {"a", "b", "c"}
