from ipaddress import IPv4Network

import pytest
from cloud_builders import REGION, TYPE, ZONES, cloud_network
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.cloud.decide.zones import choose_zone, subnet_cidr
from gpuprov.model.diagnostic import GpuprovError

LETTERS = st.sampled_from("abcdefgh")
NETWORKS = st.builds(
    lambda base, prefix: str(IPv4Network((base, prefix), strict=False)),
    st.integers(min_value=10 << 24, max_value=(11 << 24) - 1),
    st.integers(min_value=16, max_value=25),
)


@given(NETWORKS, st.sets(LETTERS, min_size=2))
def test_zones_share_the_network_without_overlap(cidr: str, letters: set[str]) -> None:
    parts = [IPv4Network(subnet_cidr(cidr, REGION + letter, REGION)) for letter in letters]
    assert all(part.subnet_of(IPv4Network(cidr)) and part.prefixlen <= 28 for part in parts)
    assert not any(one.overlaps(two) for one in parts for two in parts if one is not two)


@pytest.mark.parametrize(("zone", "cidr"), [("us-east-1a", "10.20.0.0/19"), ("us-east-1f", "10.20.160.0/19")])
def test_a_zone_has_its_part_for_good(zone: str, cidr: str) -> None:
    # Other parts would renumber networks that stand: this is a promise, not an outcome.
    assert subnet_cidr("10.20.0.0/16", zone, REGION) == cidr


@pytest.mark.parametrize("cidr", ["10.0.0.0/15", "10.0.0.0/26", "10.0.0.0/28"])
def test_a_network_that_aws_or_eight_zones_do_not_fit_is_refused(cidr: str) -> None:
    with pytest.raises(GpuprovError, match=r"GP-SPEC-005 targets.cloud.network.cidr: the network .* is a /"):
        subnet_cidr(cidr, "us-east-1a", REGION)


@pytest.mark.parametrize("zone", ["us-east-1", "us-east-1-bos-1a", "us-west-2a", "us-east-1z", "a"])
def test_what_is_no_ordinary_zone_is_refused(zone: str) -> None:
    with pytest.raises(GpuprovError, match=f"GP-CLOUD-022 .*{zone} is no availability zone of us-east-1"):
        subnet_cidr("10.20.0.0/16", zone, REGION)


def choose(zones: tuple[str, ...] = (), instance: str = TYPE) -> str:
    return choose_zone(cloud_network(zones=zones), REGION, instance, ZONES, address="pools.train.cloud.instance")


@pytest.mark.parametrize(
    ("zones", "chosen"),
    [
        ((), "us-east-1a"),
        (("us-east-1b", "us-east-1a"), "us-east-1b"),
        (("us-east-1c", "us-east-1b"), "us-east-1b"),
    ],
)
def test_the_first_zone_that_is_allowed_and_offers_the_type_is_taken(zones: tuple[str, ...], chosen: str) -> None:
    """A36: a zone that does not offer the type is never tried."""
    assert choose(zones) == chosen


def test_the_order_of_what_aws_answers_does_not_matter() -> None:
    turned = {TYPE: tuple(reversed(ZONES[TYPE]))}
    assert choose_zone(cloud_network(), REGION, TYPE, turned, address="x") == "us-east-1a"


def test_a_local_zone_is_never_taken_by_itself() -> None:
    offers = {TYPE: ("us-east-1-bos-1a", "us-east-1d")}
    assert choose_zone(cloud_network(), REGION, TYPE, offers, address="x") == "us-east-1d"


def test_a_type_that_no_allowed_zone_offers_is_refused_with_the_zones_that_do() -> None:
    with pytest.raises(GpuprovError) as caught:
        choose(("us-east-1c",))
    (found,) = caught.value.diagnostics
    assert (found.code, found.address) == ("GP-CLOUD-022", "targets.cloud.network.zones")
    assert "us-east-1a, us-east-1b" in found.detail


def test_a_type_that_the_region_does_not_offer_is_refused_at_its_pool() -> None:
    with pytest.raises(GpuprovError, match=r"GP-CLOUD-022 pools.train.cloud.instance: us-east-1 does not offer .* p9"):
        choose(instance="p9.big")
