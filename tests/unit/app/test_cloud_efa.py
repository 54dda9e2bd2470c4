from dataclasses import replace
from typing import Any

import pytest
from cloud_builders import cloud_network, cloud_pool, cloud_spec

from gpuprov.app.cloud_efa import told_of_efa


def document(**hosts: tuple[str, bool]) -> dict[str, object]:
    rows = [
        {"name": name.replace("_", "-"), "pool": "train", "zone": zone, "launch_template": "cards" if efa else None}
        for name, (zone, efa) in hosts.items()
    ]
    return {"instances": rows}


def told(efa: str | None, **hosts: tuple[str, bool]) -> list[tuple[str, str, str]]:
    pool = cloud_pool()
    assert pool.cloud is not None
    spec: Any = cloud_spec(replace(pool, cloud=replace(pool.cloud, efa=efa)), network=cloud_network(public=False))
    found = told_of_efa(spec, document(**hosts))
    return [(each.code, each.address, each.summary) for each in found]


@pytest.mark.parametrize("efa", ["ip", None])
def test_hosts_as_the_spec_says_are_not_told_of(efa: str | None) -> None:
    assert told(efa, train_a=("us-east-1a", bool(efa)), train_b=("us-east-1a", bool(efa))) == []


@pytest.mark.parametrize(("efa", "words"), [("ip", "without EFA"), (None, "with EFA")])
def test_a_host_that_keeps_what_it_has_is_named(efa: str | None, words: str) -> None:
    found = told(efa, train_a=("us-east-1a", not efa), train_b=("us-east-1a", bool(efa)))
    assert [(code, at) for code, at, _ in found] == [("GP-CLOUD-084", "instance.train-a")]
    assert found[0][2].endswith(words)


def test_adapters_in_two_zones_cannot_reach_each_other() -> None:
    found = told("ip", train_a=("us-east-1a", True), train_b=("us-east-1b", True))
    assert [(code, at) for code, at, _ in found] == [("GP-CLOUD-083", "pools.train.cloud.efa")]
    assert "us-east-1a, us-east-1b" in found[0][2]
    assert told("ip", train_a=("us-east-1a", True), train_b=("us-east-1b", False))[0][0] == "GP-CLOUD-084"
