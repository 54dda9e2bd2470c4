"""Which instances of an account become hosts, under which names, and what is refused."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gpuprov.cloud.existing import Taken, take_existing
from gpuprov.cloud.existing_aws import FoundInstance
from gpuprov.cloud.types import InstanceState
from gpuprov.spec.cloud import PoolCloudSpec
from gpuprov.spec.existing import ExistingSpec

TYPE = "p5.48xlarge"


def instance(number: int, *, name: str = "", kind: str = TYPE, **tags: str) -> FoundInstance:
    return FoundInstance(
        id=f"i-{number:017x}",
        type=kind,
        image="ami-1",
        zone="us-east-1a",
        state=InstanceState.RUNNING,
        private_address=f"10.0.0.{number}",
        public_address="",
        tags={"pool": "train", **({"Name": name} if name else {}), **tags},
    )


def take(*found: FoundInstance, pools: Sequence[str] = ("train",), made: Sequence[str] = ()) -> Taken:
    def find(tags: Mapping[str, str]) -> tuple[FoundInstance, ...]:
        return tuple(one for one in found if tags.items() <= one.tags.items())

    specs = {name: PoolCloudSpec(instance=TYPE, existing=ExistingSpec(tags={"pool": name})) for name in pools}
    return take_existing(specs, find, made=made)


@pytest.mark.parametrize(
    ("names", "made", "hosts"),
    [
        (["b", "a"], [], ["a", "b"]),
        (["a", ""], [], ["a", "i-00000000000000002"]),
        (["worker", "worker"], [], ["i-00000000000000001", "i-00000000000000002"]),
        (["GPU node 1", "a"], [], ["a", "i-00000000000000001"]),
        (["a", "b"], ["a"], ["b", "i-00000000000000001"]),
    ],
)
def test_a_host_goes_by_its_tag_where_that_is_a_hosts_name_and_no_others(
    names: list[str], made: list[str], hosts: list[str]
) -> None:
    taken = take(*(instance(number, name=name) for number, name in enumerate(names, start=1)), made=made)
    assert sorted(host.name for host in taken.hosts) == hosts
    assert {host.pool for host in taken.hosts} == {"train"}
    assert taken.refused == ()


@pytest.mark.parametrize(
    ("found", "pools", "said"),
    [
        ((), ["train"], "no instance of the region has the tags of the pool train"),
        ((instance(1, kind="g6.xlarge"),), ["train"], "are not of its type p5.48xlarge"),
        ((instance(1, **{"gpuprov:spec": "other"}),), ["train"], "were made by gpuprov"),
        ((instance(1), instance(2, pool="a")), ["train", "a", "b"], "the tags of the pool b"),
    ],
)
def test_what_cannot_be_a_host_is_refused(found: tuple[Any, ...], pools: list[str], said: str) -> None:
    (refused,) = take(*found, pools=pools).refused
    assert refused.code == "GP-CLOUD-074"
    assert said in refused.summary


def test_an_instance_of_two_pools_is_refused() -> None:
    one = instance(1, stage="prod")
    pools = {
        "train": PoolCloudSpec(instance=TYPE, existing=ExistingSpec(tags={"pool": "train"})),
        "prod": PoolCloudSpec(instance=TYPE, existing=ExistingSpec(tags={"stage": "prod"})),
    }
    taken = take_existing(pools, lambda _: (one,), made=())
    assert [(d.code, d.address) for d in taken.refused] == [("GP-CLOUD-074", "pools.prod.cloud.existing")]
    assert [(host.instance_id, host.pool) for host in taken.hosts] == [(one.id, "train")]
