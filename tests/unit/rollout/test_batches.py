"""Batches: how many hosts at a time, from a number or a percentage."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.model.change import HostPlan
from gpuprov.model.host import Connection, Host
from gpuprov.rollout.batches import batch_size, in_batches, in_rounds
from gpuprov.rollout.types import Target
from gpuprov.spec.rollout import RolloutSpec
from gpuprov.want.types import HostWant, PoolWant


@pytest.mark.parametrize(
    ("batch", "hosts", "size"),
    [
        ("1", 8, 1),
        ("3", 8, 3),
        ("12", 8, 12),
        ("25%", 8, 2),
        ("10%", 8, 1),
        ("30%", 8, 2),
        ("100%", 8, 8),
        ("1%", 1, 1),
    ],
)
def test_a_batch_is_never_larger_than_was_allowed_and_never_empty(batch: str, hosts: int, size: int) -> None:
    assert batch_size(batch, hosts) == size


def test_batches_keep_the_order_and_lose_nobody() -> None:
    assert in_batches(list("abcde"), 2) == [("a", "b"), ("c", "d"), ("e",)]


@given(racks=st.lists(st.integers(0, 5), max_size=24), size=st.integers(1, 8))
def test_law_no_batch_has_two_hosts_of_a_domain_and_there_are_as_few_as_can_be(racks: list[int], size: int) -> None:
    hosts = list(enumerate(racks))
    batches = in_batches(hosts, size, lambda host: str(host[1]))
    assert sorted(host for batch in batches for host in batch) == hosts
    assert all(len({rack for _, rack in batch}) == len(batch) <= size for batch in batches)
    fullest = max((racks.count(rack) for rack in racks), default=0)
    assert len(batches) == max(fullest, math.ceil(len(racks) / size))


def target(name: str, pool: str, rack: str = "", **steps: Any) -> Target:
    want = PoolWant(
        pool=pool, target="onprem", os="", arch="", packages=(), sources=(), files=(), services=(), exporters=(),
        driver=None, on_disk="", gpu=None, verify=(), digest="",
    )  # fmt: skip
    host = Host(
        name=name, pool=pool, target="onprem", connection=Connection(host=name, address=name), variables={"rack": rack}
    )
    return Target(
        host=host,
        want=HostWant(host=name, pool=want, digest=""),
        plan=HostPlan(host=name, pool=pool, changes=()),
        steps=RolloutSpec(**steps),
    )


def names(targets: list[Target]) -> list[tuple[str, bool]]:
    return [("".join(t.host.name for t in round_.targets), round_.canary) for round_ in in_rounds(targets)]


def test_canaries_of_all_pools_go_before_any_other_host() -> None:
    first = [target(name, "one", batch="2", canary=1) for name in "abcde"]
    second = [target(name, "two", batch="100%") for name in "xy"]
    assert names([*first, *second]) == [("a", True), ("bcxy", False), ("de", False)]


def test_pools_go_side_by_side_each_within_its_own_limit() -> None:
    first = [target(name, "one", batch="1") for name in "abc"]
    second = [target(name, "two", batch="50%") for name in "wxyz"]
    assert names([*first, *second]) == [("awx", False), ("byz", False), ("c", False)]


def test_a_rack_loses_one_host_at_a_time_canaries_too() -> None:
    racks = {"a": "r1", "b": "r1", "c": "r1", "d": "r2", "e": "r3"}
    spread = [target(name, "one", rack, batch="3", spread="rack", canary=2) for name, rack in racks.items()]
    assert names(spread) == [("a", True), ("b", True), ("cde", False)]
