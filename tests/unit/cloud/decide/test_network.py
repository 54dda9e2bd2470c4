import re
from typing import Any

import pytest
from cloud_builders import REGION, cloud_network

from gpuprov.cloud.decide.network import group_part, network_part
from gpuprov.cloud.decide.tags import Owner
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.cloud import OpenPortSpec

OWNER = Owner(spec="train", stack="train")


def rules(**changes: Any) -> dict[str, dict[str, Any]]:
    found: Any = group_part(cloud_network(**changes), OWNER)["ingress"]
    return {rule["name"]: rule for rule in found}


def test_the_named_ranges_may_log_in_and_the_hosts_reach_each_other() -> None:
    found = rules()
    assert set(found) == {"22/203.0.113.0/24", "members"}
    assert (found["22/203.0.113.0/24"]["from_port"], found["22/203.0.113.0/24"]["to_port"]) == (22, 22)
    assert found["22/203.0.113.0/24"]["protocol"] == "tcp"
    assert (found["members"]["members"], found["members"]["protocol"], found["members"]["cidr"]) == (True, "-1", None)


def test_a_range_that_comes_twice_is_one_rule_with_both_names() -> None:
    doors = (OpenPortSpec(port=22, ranges=("site", "home")), OpenPortSpec(port=9400, ranges=("site",)))
    ranges = {"office": ("203.0.113.0/24",), "home": ("203.0.113.9/24",), "site": ("198.51.100.7/32",)}
    found = rules(ranges=ranges, open=doors)
    assert set(found) == {"22/203.0.113.0/24", "22/198.51.100.7/32", "9400/198.51.100.7/32", "members"}
    assert found["22/203.0.113.0/24"]["description"] == "TCP 22 from office, home"


def test_every_rule_says_what_it_is_for_in_characters_that_aws_takes() -> None:
    names = {f"range-{number}": ("203.0.113.0/24",) for number in range(60)}
    for rule in rules(ranges=names, ssh_from=tuple(names)).values():
        assert re.fullmatch(r"[A-Za-z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{1,255}", rule["description"])


def test_everything_may_go_out() -> None:
    found: Any = group_part(cloud_network(), OWNER)["egress"]
    assert [(rule["protocol"], rule["cidr"], rule["from_port"]) for rule in found] == [("-1", "0.0.0.0/0", None)]


@pytest.mark.parametrize(
    ("ranges", "says"),
    [
        (("0.0.0.0/0",), "0.0.0.0/0 is the whole internet"),
        (("2001:db8::/32",), "2001:db8::/32 is no IPv4 range"),
    ],
)
def test_an_open_world_is_refused(ranges: tuple[str, ...], says: str) -> None:
    with pytest.raises(GpuprovError, match=f"GP-SPEC-005 targets.cloud.network.ranges.office: {says}"):
        rules(ranges={"office": ranges})


def test_a_range_without_a_name_in_the_spec_is_refused() -> None:
    with pytest.raises(GpuprovError, match=r"targets.cloud.network.ssh_from: there is no range attic"):
        rules(ssh_from=("attic",))


def test_a_world_that_was_said_twice_is_open_on_that_port_alone() -> None:
    ranges = {"all": ("0.0.0.0/0",), "office": ("203.0.113.0/24",)}
    doors = (OpenPortSpec(port=443, ranges=("all",)),)
    assert set(rules(ranges=ranges, open=doors, world=(443,))) == {"22/203.0.113.0/24", "443/0.0.0.0/0", "members"}
    with pytest.raises(GpuprovError, match="the whole internet"):
        rules(ranges=ranges, open=doors, ssh_from=("all",), world=(443,))


def test_there_is_a_subnet_for_each_zone_in_use() -> None:
    part: Any = network_part(cloud_network(), REGION, {"us-east-1c", "us-east-1a"}, OWNER, {})
    assert [(subnet["name"], subnet["cidr"]) for subnet in part["subnets"]] == [
        ("us-east-1a", "10.20.0.0/19"),
        ("us-east-1c", "10.20.64.0/19"),
    ]
