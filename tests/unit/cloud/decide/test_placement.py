from dataclasses import replace
from typing import Any

from cloud_builders import TYPE, cloud_document, cloud_pool, cloud_spec, entries

from gpuprov.cloud.decide.standing import Standing, StandingHost, standing_of

GROUP = "gpuprov-train-train"


def spec(placement: str | None = "cluster") -> Any:
    pool = cloud_pool()
    assert pool.cloud is not None
    return cloud_spec(replace(pool, cloud=replace(pool.cloud, placement=placement)))


def groups(document: Any) -> tuple[list[str], dict[str, str | None]]:
    instances = {name: entry["placement_group"] for name, entry in entries(document, "instances").items()}
    return [group["name"] for group in document["placement_groups"]], instances


def standing(**hosts: str) -> Standing:
    return Standing(
        hosts={
            name.replace("_", "-"): StandingHost(zone="us-east-1a", type=TYPE, root_gib=8, placement=placement)
            for name, placement in hosts.items()
        }
    )


def test_new_hosts_of_a_pool_are_put_into_its_group() -> None:
    assert groups(cloud_document(spec())) == ([GROUP], {"train-a": GROUP, "train-b": GROUP})
    assert groups(cloud_document(spec(None))) == ([], {"train-a": None, "train-b": None})


def test_a_host_that_stands_keeps_its_group_or_none() -> None:
    # Another group would be another instance: nobody asked for that.
    there = standing(train_a="")
    assert groups(cloud_document(spec(), standing=there)) == ([GROUP], {"train-a": None, "train-b": GROUP})
    there = standing(train_a=GROUP)
    assert groups(cloud_document(spec(None), standing=there)) == ([GROUP], {"train-a": GROUP, "train-b": None})


def test_a_host_that_is_made_anew_follows_the_spec() -> None:
    found = cloud_document(spec(), standing=standing(train_a="", train_b=""), replace=("train-a",))
    assert groups(found) == ([GROUP], {"train-a": GROUP, "train-b": None})


def test_the_state_says_which_group_a_host_is_in() -> None:
    inputs: dict[str, dict[str, object]] = {
        "instance.train-a": {"availabilityZone": "us-east-1a", "placementGroup": GROUP},
        "instance.train-b": {"availabilityZone": "us-east-1a"},
    }
    found = standing_of(inputs).hosts
    assert (found["train-a"].placement, found["train-b"].placement) == (GROUP, "")
