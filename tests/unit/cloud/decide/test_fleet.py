import pytest
from cloud_builders import BASE, REGION, TYPE, ZONES, cloud_lock, cloud_network, cloud_pool, cloud_spec
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.cloud.decide.fleet import PlannedHost, base_image, planned_hosts
from gpuprov.cloud.decide.standing import Standing, StandingHost, StandingVolume
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.storage import StorageSpec
from gpuprov.spec.types import Spec

NOTHING = Standing()
A, B, C = (REGION + letter for letter in "abc")


def placed(
    spec: Spec,
    standing: Standing = NOTHING,
    replace: tuple[str, ...] = (),
    zones: object = None,
) -> dict[str, PlannedHost]:
    assert spec.cloud is not None
    offered = ZONES if zones is None else zones
    hosts = planned_hosts(spec, spec.cloud, offered, standing.without(replace))  # type: ignore[arg-type]
    return {host.name: host for host in hosts}


def zones_of(*arguments: object) -> dict[str, str]:
    return {name: host.zone for name, host in placed(*arguments).items()}  # type: ignore[arg-type]


def volume(zone: str) -> StandingVolume:
    return StandingVolume(zone=zone, size_gib=500, iops=3000, throughput=125, device="/dev/sdf", tags={})


@given(st.sets(st.from_regex(r"[a-z]{1,6}", fullmatch=True), min_size=1, max_size=6))
def test_no_host_moves_when_others_come_or_go(names: set[str]) -> None:
    everyone = zones_of(cloud_spec(cloud_pool(hosts=tuple(sorted(names)))))
    for name in names:
        assert zones_of(cloud_spec(cloud_pool(hosts=(name,)))) == {name: everyone[name]}


def test_a_pool_without_cloud_hosts_has_none() -> None:
    spec = cloud_spec(cloud_pool(), cloud_pool("rack", hosts=()))
    assert set(placed(spec)) == {"train-a", "train-b"}


def test_a_standing_host_keeps_its_zone_when_the_zones_change() -> None:
    spec = cloud_spec(network=cloud_network(zones=(B,)))
    there = Standing(hosts={"train-a": StandingHost(zone=A, type=TYPE, root_gib=200)})
    assert zones_of(spec, there) == {"train-a": A, "train-b": B}
    assert zones_of(spec, there, ("train-a",)) == {"train-a": B, "train-b": B}


def test_a_host_goes_where_its_volume_is() -> None:
    there = Standing(volumes={"scratch/train-a": volume(B), "scratch/other": volume(C)})
    assert zones_of(cloud_spec(), there) == {"train-a": B, "train-b": A}
    assert zones_of(cloud_spec(), there, ("train-a",))["train-a"] == B
    assert zones_of(cloud_spec(), there, ("train-a", "scratch/train-a"))["train-a"] == A
    assert zones_of(cloud_spec(), there, ("train-a", "scratch"))["train-a"] == A


def test_a_volume_that_the_spec_dropped_binds_nobody() -> None:
    spec = cloud_spec(storage={"data": StorageSpec(kind="volume", size="1GiB")})
    assert zones_of(spec, Standing(volumes={"scratch/train-a": volume(B)}))["train-a"] == A


def test_a_standing_host_needs_no_offer() -> None:
    both = {name: StandingHost(zone=B, type=TYPE, root_gib=200) for name in ("train-a", "train-b")}
    assert placed(cloud_spec(), Standing(hosts=both), (), {})["train-a"].zone == B


def test_a_type_that_the_bound_zone_lacks_is_refused_with_what_binds() -> None:
    spec = cloud_spec(cloud_pool(instance="c7i.2xlarge", hosts=("train-a",)))
    there = Standing(
        hosts={"train-a": StandingHost(zone=B, type=TYPE, root_gib=200)}, volumes={"scratch/train-a": volume(B)}
    )
    with pytest.raises(GpuprovError) as caught:
        placed(spec, there)
    (found,) = caught.value.diagnostics
    assert (found.code, found.address) == ("GP-CLOUD-022", "pools.train.cloud.instance")
    assert "its volume scratch/train-a is there" in found.summary
    assert "`--replace train-a --replace scratch/train-a`" in found.hint


def test_a_host_in_two_pools_is_refused() -> None:
    with pytest.raises(GpuprovError, match=r"GP-SPEC-005 pools.train.cloud.hosts: the host train-a is in the pools"):
        placed(cloud_spec(cloud_pool(), cloud_pool("other", hosts=("train-a",))))


def test_counted_hosts_are_named_after_their_pool() -> None:
    spec = cloud_spec(cloud_pool("ml", hosts=("ml-1", "ml-2")))
    assert [(h.name, h.pool, h.type) for h in placed(spec).values()] == [("ml-1", "ml", TYPE), ("ml-2", "ml", TYPE)]


def test_the_base_image_is_the_locks() -> None:
    assert base_image(cloud_lock(), "train", REGION) == BASE
    with pytest.raises(GpuprovError, match=r"GP-CLOUD-018 .* no image of debian-12 \(amd64\) in us-west-2"):
        base_image(cloud_lock(), "train", "us-west-2")
    with pytest.raises(GpuprovError, match="GP-LOCK-004"):
        base_image(cloud_lock(), "other", REGION)


def test_a_root_volume_never_shrinks_unless_the_host_is_made_anew() -> None:
    there = Standing(hosts={"train-a": StandingHost(zone=A, type=TYPE, root_gib=201)})
    with pytest.raises(GpuprovError, match=r"GP-SPEC-005 pools.train.cloud.root: .* 201 GiB and cannot shrink to 200"):
        placed(cloud_spec(), there)
    assert placed(cloud_spec(), there, ("train-a",))["train-a"].root_gib == 200
