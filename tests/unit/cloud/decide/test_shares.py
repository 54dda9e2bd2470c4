from dataclasses import replace
from typing import Any

import pytest
from cloud_builders import cloud_document, cloud_pool, cloud_spec, entries

from gpuprov.cloud.decide.document import data_document, standing_document
from gpuprov.cloud.decide.shares import TOKEN_LIMIT, share_names
from gpuprov.cloud.decide.standing import Standing, standing_of
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.storage import StorageSpec
from gpuprov.spec.types import PoolOnpremSpec

DATA = StorageSpec(kind="shared", mount="/data")
OLD = Standing(shares={"old": {"Name": "train/old"}})


def document(*, storage: dict[str, StorageSpec] | None = None, **arguments: Any) -> Any:
    return cloud_document(cloud_spec(storage={"data": DATA} if storage is None else storage), **arguments)


def test_hosts_reach_a_share_in_their_zone_at_one_port_and_nobody_else_does() -> None:
    found = document()
    (share,) = found["shares"]
    assert (share["name"], share["creation_token"], share["throughput"]) == ("data", "train/data", "elastic")
    assert share["tags"]["gpuprov:id"] == "train/share/data"
    access = found["share_access"]
    zones = {entry["zone"] for entry in found["instances"]}
    assert access["targets"] == [{"name": f"data/{zone}", "share": "data", "subnet": zone} for zone in sorted(zones)]
    assert access["group"]["port"] == 2049
    assert access["group"]["name"] != found["security_group"]["name"]


def test_a_stack_without_shares_has_no_way_to_any() -> None:
    found = document(storage={})
    assert (found["shares"], found["share_access"]) == ([], None)


def test_only_what_hosts_of_the_cloud_have_is_made_there() -> None:
    rack = replace(cloud_pool("rack"), cloud=None, onprem=PoolOnpremSpec(group="rack"))
    pools = {"rack": rack, "train": cloud_pool()}
    storage = {"a": replace(DATA, pools=("rack",)), "b": replace(DATA, pools=("train",)), "c": DATA}
    assert share_names(storage, pools, Standing(), ()) == ("b", "c")


def test_a_share_that_left_the_spec_stays_until_it_is_named() -> None:
    # Hosts have it mounted while resources are changed: without it they would hang.
    assert [share["name"] for share in document(standing=OLD)["shares"]] == ["data", "old"]
    assert [target["share"] for target in document(standing=OLD)["share_access"]["targets"]] == ["data", "old"]
    assert [share["name"] for share in document(standing=OLD, replace=["old"])["shares"]] == ["data"]


def test_destroy_leaves_shares_with_their_tags_unless_they_are_named() -> None:
    state = {"share.data": {"tags": {"Name": "train/data"}}, "vpc.main": {}}
    whole = standing_document(cloud_spec(), standing_of(state))
    left = data_document(whole, delete=[])
    assert entries(left, "shares")["data"]["tags"] == {"Name": "train/data"}
    assert left["share_access"] is None
    assert data_document(whole, delete=["data"])["shares"] == []
    with pytest.raises(GpuprovError) as raised:
        data_document(whole, delete=["other"])
    assert raised.value.diagnostics[0].code == "GP-CLOUD-026"


def test_a_token_fits_and_says_which_share_it_is_of() -> None:
    name = "n" * 63
    spec = cloud_spec(storage={"d" * 32: DATA, "e" * 32: DATA}, name=name)
    tokens = [share["creation_token"] for share in cloud_document(spec)["shares"]]  # type: ignore[attr-defined]
    assert len(set(tokens)) == 2
    assert max(map(len, tokens)) <= TOKEN_LIMIT
