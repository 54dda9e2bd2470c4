import threading
from pathlib import Path

import pytest

from gpuprov.lab.aws import network, vpcs
from gpuprov.lab.aws.vpcs import InstanceLink, Vpc
from gpuprov.lab.seed import draw
from gpuprov.model.diagnostic import GpuprovError

LAB = draw(3, nodes=1)
VPC = Vpc(id="vpc-1", cidr="10.7.0.0/16", number=2)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("gpuprov.lab.names.ROOT", tmp_path)
    return tmp_path


def link(number: int, vpc_id: str = "vpc-1") -> InstanceLink:
    return InstanceLink(
        instance_id=f"i-{vpc_id}-{number}", vpc_id=vpc_id, number=number, private_address=f"10.7.0.{number}",
        public_address=None,
    )  # fmt: skip


def test_routers_and_instances_share_the_public_range_and_no_address() -> None:
    assert LAB.cloud is not None
    routers = {network.router_address(LAB, Vpc(id="v", cidr=VPC.cidr, number=n)) for n in range(1, vpcs.MAX_VPCS + 1)}
    instances = network.public_addresses(LAB.cloud)
    assert (len(routers), len(instances)) == (31, 223)
    assert not routers & instances
    whole = {str(address) for address in LAB.cloud.public_network.hosts()}
    assert routers | instances == whole


def test_a_vpcs_router_has_its_second_address() -> None:
    assert VPC.gateway == "10.7.0.1"


def test_a_hardware_address_is_the_instances_own_and_local() -> None:
    assert network.mac_of("i-1") == network.mac_of("i-1") != network.mac_of("i-2")
    first = int(network.mac_of("i-1").split(":")[0], 16)
    assert first & 0b11 == 0b10  # unicast, locally administered
    assert len(network.mac_of("i-1").split(":")) == 6


def test_what_leaves_a_vpc_has_a_public_address() -> None:
    rules = [line.strip() for line in network.router_rules(LAB, VPC).splitlines()]
    named, other = (line for line in rules if " snat " in line)
    assert named == 'oifname "up0" snat ip to ip saddr map @public'
    assert other == f'oifname "up0" ip saddr 10.7.0.0/16 snat ip to {network.router_address(LAB, VPC)}'
    assert "ip daddr 169.254.0.0/16 counter drop" in rules
    assert f'iifname "gpl-{LAB.id}-i*" iifname . ip saddr != @sources counter drop' in rules


def test_a_lab_without_a_cloud_is_told() -> None:
    with pytest.raises(GpuprovError, match="has no cloud"):
        network.cloud_of(draw(3, cloud=False))


def test_vpcs_and_links_are_remembered_in_files() -> None:
    assert (vpcs.read_vpcs(LAB), vpcs.read_links(LAB)) == ((), ())
    other = Vpc(id="vpc-2", cidr=VPC.cidr, number=1)
    for vpc in (VPC, other):
        vpcs.write_vpc(LAB, vpc)
    assert vpcs.read_vpcs(LAB) == (other, VPC)
    assert vpcs.read_vpc(LAB, "vpc-1") == VPC
    with pytest.raises(GpuprovError, match="no VPC vpc-3"):
        vpcs.read_vpc(LAB, "vpc-3")
    for made in (link(2), link(1), link(1, "vpc-2")):
        vpcs.write_link(LAB, made)
    assert vpcs.read_links(LAB, "vpc-1") == (link(1), link(2))
    assert len(vpcs.read_links(LAB)) == 3
    assert vpcs.find_link(LAB, "i-vpc-2-1") == link(1, "vpc-2")
    vpcs.forget_link(LAB, link(2))
    vpcs.forget_link(LAB, link(2))
    assert vpcs.find_link(LAB, "i-vpc-1-2") is None


def test_the_lowest_free_number_is_taken_up_to_the_limit() -> None:
    assert vpcs.free_number(set(), limit=3, what="VPCs") == 1
    assert vpcs.free_number({1, 3}, limit=3, what="VPCs") == 2
    with pytest.raises(GpuprovError, match="3 VPCs"):
        vpcs.free_number({1, 2, 3}, limit=3, what="VPCs")


def test_two_that_number_at_once_get_two_numbers() -> None:
    def make() -> None:
        with vpcs.numbering(LAB):
            used = {made.number for made in vpcs.read_links(LAB, "vpc-1")}
            vpcs.write_link(LAB, link(vpcs.free_number(used, limit=99, what="links")))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [made.number for made in vpcs.read_links(LAB)] == list(range(1, 9))


def test_a_vpc_that_cannot_be_made_leaves_no_record(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(network, "_make_router", fail)
    monkeypatch.setattr(network.cgroup, "remove", lambda _: None)
    monkeypatch.setattr(network, "NETNS_FOLDER", root / "netns")
    with pytest.raises(KeyboardInterrupt):
        network.make_vpc(LAB, "vpc-1", "10.7.0.0/16")
    assert vpcs.read_vpcs(LAB) == ()


def test_a_public_address_for_an_instance_that_is_not_there_is_refused() -> None:
    with pytest.raises(GpuprovError, match="no link"):
        network.set_public_address(LAB, "i-9", None)
