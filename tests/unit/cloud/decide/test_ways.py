from ipaddress import IPv4Network
from typing import Any

import pytest
from cloud_builders import REGION, cloud_network
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.cloud.decide.network import network_part
from gpuprov.cloud.decide.surroundings import FoundService
from gpuprov.cloud.decide.tags import Owner
from gpuprov.cloud.decide.ways import nat_cidr
from gpuprov.cloud.decide.zones import subnet_cidr
from gpuprov.model.diagnostic import GpuprovError

OWNER = Owner(spec="train", stack="train")
ZONES = {"us-east-1a", "us-east-1c"}
REGISTRY = FoundService(name="com.amazonaws.us-east-1.ecr.api", zones=("us-east-1b", "us-east-1c"))
NETWORKS = st.builds(
    lambda base, prefix: str(IPv4Network((base, prefix), strict=False)),
    st.integers(min_value=10 << 24, max_value=(11 << 24) - 1),
    st.integers(min_value=16, max_value=22),
)


def part(services: dict[str, FoundService] | None = None, **changes: Any) -> dict[str, Any]:
    return network_part(cloud_network(**changes), REGION, ZONES, OWNER, services or {})


@pytest.mark.parametrize(
    ("changes", "gateway", "nats"),
    [
        ({}, True, []),
        ({"public": False}, True, ["us-east-1a", "us-east-1c"]),
        ({"public": False, "egress": "nat"}, True, ["us-east-1a", "us-east-1c"]),
        ({"public": False, "egress": "endpoints"}, False, []),
    ],
)
def test_each_way_out_has_what_it_needs_and_no_more(changes: Any, gateway: bool, nats: list[str]) -> None:  # noqa: FBT001
    found = part(**changes)
    assert (found["gateway"] is not None, [nat["name"] for nat in found["nats"]]) == (gateway, nats)
    assert found["public"] is changes.get("public", True)


def test_hosts_have_the_same_subnets_whatever_their_way_out() -> None:
    assert part()["subnets"] == part(public=False)["subnets"] == part(public=False, egress="endpoints")["subnets"]


@given(NETWORKS, st.sets(st.sampled_from("abcdefg"), min_size=1))
def test_nat_gateways_take_nothing_from_hosts_or_from_each_other(cidr: str, letters: set[str]) -> None:
    zones = [REGION + letter for letter in letters]
    parts = [IPv4Network(subnet_cidr(cidr, zone, REGION)) for zone in zones]
    parts += [IPv4Network(nat_cidr(cidr, zone, REGION)) for zone in zones]
    assert all(one.subnet_of(IPv4Network(cidr)) and one.prefixlen <= 28 for one in parts)
    assert not any(one.overlaps(two) for one in parts for two in parts if one is not two)


def test_a_nat_gateways_place_is_for_good() -> None:
    # Another place would make gateways and their addresses anew: this is a promise, not an outcome.
    assert nat_cidr("10.20.0.0/16", "us-east-1c", REGION) == "10.20.224.32/28"


def test_hosts_cannot_stand_where_the_nat_gateways_do() -> None:
    with pytest.raises(GpuprovError, match=r"GP-CLOUD-022 .*cannot stand in us-east-1h"):
        nat_cidr("10.20.0.0/16", "us-east-1h", REGION)


def test_s3_is_reached_without_leaving_the_network() -> None:
    (only,) = part()["endpoints"]
    assert (only["name"], only["service"], only["interface"]) == ("s3", "com.amazonaws.us-east-1.s3", False)


def test_an_endpoint_stands_in_the_zones_in_use_that_have_the_service() -> None:
    found = part({"ecr.api": REGISTRY}, endpoints=("ecr.api",))["endpoints"][1]
    assert (found["service"], found["interface"], found["zones"]) == (REGISTRY.name, True, ["us-east-1c"])


@pytest.mark.parametrize(
    ("services", "says"),
    [
        ({}, "the region has no interface endpoint for the service ecr.api"),
        ({"ecr.api": FoundService(name="x.ecr.api", zones=("us-east-1d",))}, "x.ecr.api has no endpoint in us-east-1a"),
    ],
)
def test_a_service_without_an_endpoint_is_refused(services: dict[str, FoundService], says: str) -> None:
    with pytest.raises(GpuprovError, match=f"GP-CLOUD-036 targets.cloud.network.endpoints: {says}"):
        part(services, endpoints=("ecr.api",))
