import re
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network

import pytest
from hypothesis import given, settings, strategies

from gpuprov.lab.gpus import DRIVER_RELEASES, INSTANCES, MODELS
from gpuprov.lab.names import ID_PATTERN
from gpuprov.lab.seed import MAX_NODES, draw, lab_id, move, move_cloud

SEEDS = strategies.integers(min_value=0, max_value=2**64)
PRIVATE = (IPv4Network("10.0.0.0/8"), IPv4Network("172.16.0.0/12"))


@settings(deadline=None)
@given(SEEDS, strategies.integers(min_value=1, max_value=MAX_NODES))
def test_any_seed_gives_a_lab_that_can_be_made(seed: int, nodes: int) -> None:
    lab = draw(seed, nodes=nodes)
    assert lab == draw(seed, nodes=nodes)
    assert ID_PATTERN.fullmatch(lab.id)
    assert len(lab.nodes) == nodes
    assert any(lab.network.subnet_of(private) for private in PRIVATE)
    addresses = [lab.router, lab.host, *(node.address for node in lab.nodes)]
    assert len(set(addresses)) == nodes + 2
    assert all(IPv4Address(address) in lab.network for address in addresses)
    assert len({node.name for node in lab.nodes}) == nodes
    assert all(len(node.name) <= 63 and node.name.replace("-", "").isalnum() for node in lab.nodes)


@settings(deadline=None)
@given(SEEDS, strategies.integers(min_value=1, max_value=MAX_NODES))
def test_train_nodes_have_equal_gpus_and_cpu_nodes_none(seed: int, nodes: int) -> None:
    lab = draw(seed, nodes=nodes)
    train = [node for node in lab.nodes if node.group == "train"]
    cpu = [node for node in lab.nodes if node.group == "cpu"]
    assert len(cpu) in ((0,) if nodes == 1 else (1,) if nodes < 4 else (1, 2))
    assert len(train) + len(cpu) == nodes
    assert {node.gpu for node in cpu} <= {None}
    (gpu,) = {node.gpu for node in train}
    assert gpu is not None
    row = next(row for row in MODELS if row.model == gpu.model)
    assert gpu.count in row.counts


@settings(deadline=None)
@given(SEEDS)
def test_the_releases_on_offer_are_consecutive_ones_of_the_branch(seed: int) -> None:
    lab = draw(seed)
    known = DRIVER_RELEASES[lab.driver_branch]
    first = known.index(lab.driver_releases[0])
    assert lab.driver_releases == known[first : first + 3]
    assert len(lab.driver_releases) == 3


def test_seeds_differ_in_all_that_is_drawn() -> None:
    labs = [draw(seed) for seed in range(200)]
    assert len({lab.id for lab in labs}) > 190
    assert len({lab.subnet for lab in labs}) > 190
    assert {node.gpu.model for lab in labs for node in lab.nodes if node.gpu} == {row.model for row in MODELS}
    assert {lab.driver_branch for lab in labs} == set(DRIVER_RELEASES)
    assert len({lab.nodes[0].name for lab in labs}) > 20
    assert {sum(node.gpu is None for node in lab.nodes) for lab in labs} == {1, 2}


@settings(deadline=None)
@given(SEEDS, strategies.integers(min_value=1, max_value=50))
def test_a_moved_lab_differs_in_its_addresses_only(seed: int, attempt: int) -> None:
    lab = draw(seed)
    moved = move(lab, attempt)
    assert moved == move(lab, attempt)
    assert replace(move(moved, attempt), subnet="", router="", host="", nodes=()) == replace(
        lab, subnet="", router="", host="", nodes=()
    )
    assert [replace(node, address="") for node in moved.nodes] == [replace(node, address="") for node in lab.nodes]
    offsets = [int(IPv4Address(node.address)) - int(lab.network[0]) for node in lab.nodes]
    assert [node.address for node in moved.nodes] == [str(moved.network[offset]) for offset in offsets]
    assert (moved.router, moved.host) == (str(moved.network[1]), str(moved.network[254]))


def test_labs_of_one_seed_move_to_different_ranges() -> None:
    lab = draw(1)
    assert len({move(replace(lab, id=lab_id), attempt).subnet for lab_id in ("a", "b") for attempt in range(1, 9)}) > 14


def test_the_id_does_not_depend_on_the_number_of_nodes() -> None:
    assert draw(5, nodes=1).id == draw(5, nodes=9).id == lab_id(5)


@pytest.mark.parametrize("nodes", [0, -1, MAX_NODES + 1])
def test_a_number_of_nodes_out_of_range_is_refused(nodes: int) -> None:
    with pytest.raises(ValueError, match=str(nodes)):
        draw(1, nodes=nodes)


@settings(deadline=None)
@given(SEEDS, strategies.integers(min_value=0, max_value=9))
def test_any_seed_gives_a_cloud_that_can_be_made(seed: int, attempt: int) -> None:
    lab = draw(seed)
    if attempt:
        lab = move_cloud(lab, attempt)
    cloud = lab.cloud
    assert cloud is not None
    assert cloud.public_network.prefixlen == 24
    assert cloud.public_network.subnet_of(IPv4Network("198.18.0.0/15"))
    private = IPv4Network(cloud.cidr)
    assert any(private.subnet_of(whole) for whole in PRIVATE)
    assert 16 <= private.prefixlen <= 28  # what a VPC may be
    assert not private.overlaps(lab.network)
    assert cloud.api_port != cloud.plugin_port
    assert all(1024 < port < 32768 for port in (cloud.api_port, cloud.plugin_port))
    assert len(cloud.account) == 12
    assert cloud.account.isdigit()
    assert len(set(cloud.hosts) | {node.name for node in lab.nodes}) == len(cloud.hosts) + len(lab.nodes)
    assert re.fullmatch(r"ami-[0-9a-f]{17}", cloud.base_image)
    assert re.fullmatch(r"debian-12-amd64-2026\d{4}-2\d{3}", cloud.base_image_name)


@settings(deadline=None)
@given(SEEDS)
def test_the_instances_have_the_gpus_of_the_rack(seed: int) -> None:
    lab = draw(seed)
    assert lab.cloud is not None
    row = next(row for row in INSTANCES if row.type == lab.cloud.instance)
    assert {(node.gpu.model, node.gpu.count) for node in lab.nodes if node.gpu} == {(row.model, row.count)}
    assert lab.cloud.region in row.regions


@settings(deadline=None)
@given(SEEDS, strategies.integers(min_value=1, max_value=MAX_NODES))
def test_the_rack_of_a_seed_is_the_same_without_a_cloud_where_an_instance_has_its_gpus(seed: int, nodes: int) -> None:
    rack, both = draw(seed, nodes=nodes, cloud=False), draw(seed, nodes=nodes)
    assert rack.cloud is None
    gpu, offered = rack.nodes[0].gpu, both.nodes[0].gpu
    assert gpu is not None
    assert offered is not None
    assert replace(gpu, count=offered.count) == offered
    if any((row.model, row.count) == (gpu.model, gpu.count) for row in INSTANCES):
        assert replace(both, cloud=None) == rack
    else:
        assert offered.count > gpu.count


def test_a_moved_cloud_is_another_in_its_places_only() -> None:
    lab = draw(7)
    moved = move_cloud(lab, 1)
    assert lab.cloud is not None
    assert moved.cloud is not None
    assert replace(moved, cloud=None) == replace(lab, cloud=None)
    kept = {"cidr": "", "public_range": "", "api_port": 0, "plugin_port": 0}
    assert replace(moved.cloud, **kept) == replace(lab.cloud, **kept)
    assert moved.cloud.public_range != lab.cloud.public_range
    assert move_cloud(draw(7, cloud=False), 1) == draw(7, cloud=False)


def test_every_gpu_model_can_be_had_in_the_cloud() -> None:
    assert {row.model for row in INSTANCES} == {row.model for row in MODELS}
    assert all(max(model.counts) in {row.count for row in INSTANCES if row.model == model.model} for model in MODELS)
