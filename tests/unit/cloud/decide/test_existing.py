from dataclasses import replace
from typing import Any

import pytest
from cloud_builders import (
    BUILDER_TYPE,
    KEYS,
    TYPE,
    cloud_document,
    cloud_lock,
    cloud_network,
    cloud_spec,
    entries,
    section,
)

from gpuprov.cloud.decide.document import builder_document
from gpuprov.cloud.decide.standing import Standing, StandingHost
from gpuprov.cloud.decide.surroundings import ELSEWHERE, INTERNET, FoundNetwork, FoundSubnet, Surroundings
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.cloud_network import ExistingNetworkSpec

SUBNETS = ("subnet-0aaaaaaa", "subnet-0bbbbbbb")
EXISTING = ExistingNetworkSpec(subnets=SUBNETS)
A = FoundSubnet(id=SUBNETS[0], zone="us-east-1a", cidr="172.31.0.0/24", free=200, way=INTERNET)
B = FoundSubnet(id=SUBNETS[1], zone="us-east-1b", cidr="172.31.1.0/24", free=200, way=INTERNET)


def found(*subnets: FoundSubnet) -> FoundNetwork:
    return FoundNetwork(vpc="vpc-0aaaaaaa", cidrs=("172.31.0.0/16", "100.64.0.0/16"), subnets=subnets or (A, B))


def document(network: FoundNetwork | None = None, *, standing: Standing | None = None, **changes: Any) -> Any:
    given = {"cidr": None, "existing": EXISTING, **changes}
    spec = cloud_spec(network=cloud_network(**given))
    around = Surroundings(network=network or found())
    return cloud_document(spec, around=around, **({} if standing is None else {"standing": standing}))


def test_hosts_are_put_into_it_and_nothing_of_it_is_made() -> None:
    made = document()
    network = section(made, "network")
    assert (network["vpc"], network["public"]) == ("vpc-0aaaaaaa", True)
    assert [(s["name"], s["id"], s["zone"]) for s in network["subnets"]] == [("us-east-1a", A.id, "us-east-1a")]
    assert [network[key] for key in ("gateway", "route_table", "nats", "endpoints")] == [None, None, [], []]
    assert {entry["subnet"] for entry in entries(made, "instances").values()} == {"us-east-1a"}
    assert section(made, "security_group")["ingress"]


def test_the_order_of_the_subnets_is_the_order_of_the_zones() -> None:
    assert document(found(B, A))["instances"][0]["zone"] == "us-east-1b"
    assert document(found(B, A), zones=("us-east-1a", "us-east-1b"))["instances"][0]["zone"] == "us-east-1a"
    by_tag = ExistingNetworkSpec(tags={"role": "gpu"})
    assert document(found(B, A), existing=by_tag)["instances"][0]["zone"] == "us-east-1a"


def test_a_subnet_that_does_not_lead_out_is_passed_over_while_another_does() -> None:
    assert document(found(replace(A, way=ELSEWHERE), B))["instances"][0]["zone"] == "us-east-1b"
    assert document(found(replace(A, way=ELSEWHERE), B), public=False)["instances"][0]["zone"] == "us-east-1a"


@pytest.mark.parametrize(
    ("network", "changes", "code", "says"),
    [
        (found(), {"cidr": "10.20.0.0/16"}, "032", "has the range 172.31.0.0/16, 100.64.0.0/16"),
        (found(A, replace(B, zone="us-east-1a")), {}, "031", "subnet-0aaaaaaa and subnet-0bbbbbbb are both in us-east"),
        (found(replace(A, way="")), {}, "033", "leads to an internet gateway from subnet-0aaaaaaa"),
        (found(A), {"public": False}, "033", "leads to a NAT gateway, a transit gateway or a VPN"),
        (found(replace(A, free=1)), {}, "034", "has 1 free address.*need 2"),
        (found(A), {"zones": ("us-east-1b",)}, "030", "has no subnet in us-east-1b"),
    ],
)
def test_a_network_that_does_not_serve_is_refused(network: Any, changes: Any, code: str, says: str) -> None:
    with pytest.raises(GpuprovError, match=f"GP-CLOUD-{code} .*{says}"):
        document(network, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"cidr": "172.31.0.0/16"},
        {"cidr": "100.64.0.0/16"},
        {"public": False, "egress": "endpoints"},
    ],
)
def test_what_the_spec_says_of_it_and_is_true_passes(changes: Any) -> None:
    network = found(replace(A, way="" if "egress" in changes else INTERNET))
    assert document(network, **changes)["network"]["vpc"] == "vpc-0aaaaaaa"


def test_hosts_that_stand_need_no_new_address_and_keep_their_zone() -> None:
    standing = Standing(
        hosts={n: StandingHost(zone="us-east-1b", type=TYPE, root_gib=8) for n in ("train-a", "train-b")}
    )
    made = document(found(A, replace(B, free=0)), standing=standing)
    assert {entry["zone"] for entry in made["instances"]} == {"us-east-1b"}
    with pytest.raises(GpuprovError, match=r"GP-CLOUD-030 .*hosts stand in us-east-1b, and the network has no subnet"):
        document(found(A), standing=standing)


def test_an_images_builder_is_put_into_it_too() -> None:
    spec = cloud_spec(network=cloud_network(cidr=None, existing=EXISTING))
    made = builder_document(
        spec,
        cloud_lock(),
        spec.pools["train"],
        zones={BUILDER_TYPE: ("us-east-1b",)},
        login_keys=KEYS,
        around=Surroundings(network=found()),
    )
    assert [(s["id"], s["zone"]) for s in section(made, "network")["subnets"]] == [(B.id, "us-east-1b")]


def test_nothing_is_decided_before_it_was_looked_up() -> None:
    with pytest.raises(ValueError, match="was not looked up"):
        cloud_document(cloud_spec(network=cloud_network(cidr=None, existing=EXISTING)))
