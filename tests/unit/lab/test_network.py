import json
from ipaddress import IPv4Network

import pytest

from gpuprov.lab import network
from gpuprov.lab.description import LabDescription
from gpuprov.lab.seed import draw


@pytest.fixture
def lab() -> LabDescription:
    return draw(3, nodes=2, cloud=False)


@pytest.fixture
def cloud_lab() -> LabDescription:
    return draw(3, nodes=2)


def test_only_what_leaves_by_the_uplink_is_translated(lab: LabDescription) -> None:
    rules = network.machine_rules(lab, ("eth0", "wlan0"))
    assert [line.strip() for line in rules.splitlines() if "masquerade" in line] == [
        f'ip saddr {lab.subnet} oifname "eth0" masquerade',
        f'ip saddr {lab.subnet} oifname "wlan0" masquerade',
    ]
    assert "masquerade" not in network.machine_rules(lab, ())


def test_link_local_addresses_are_dropped_on_the_machine_and_in_the_router(lab: LabDescription) -> None:
    for rules in (network.machine_rules(lab, ("eth0",)), network.router_rules(lab)):
        assert rules.startswith(f"table inet gpl_{lab.id} {{\n")
        (drop,) = [line for line in rules.splitlines() if line.endswith(" drop")]
        assert "ip daddr 169.254.0.0/16" in drop


@pytest.mark.parametrize(
    ("target", "free"),
    [
        ("default", True),
        ("192.0.2.0/24", True),
        ("172.16.4.0/24", True),
        ("172.16.5.0/24", False),
        ("172.16.5.7", False),
        ("172.16.0.0/12", False),
        ("128.0.0.0/1", False),
    ],
)
def test_a_range_is_free_when_no_route_overlaps(monkeypatch: pytest.MonkeyPatch, target: str, *, free: bool) -> None:
    monkeypatch.setattr(network, "run", lambda _, **__: json.dumps([{"dst": target, "dev": "vpn0"}]))
    user = network.used_by(IPv4Network("172.16.5.0/24"))
    assert user == (None if free else f"vpn0 ({target})")


def test_uplinks_are_the_links_of_the_default_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    routes = [{"dst": "default", "dev": "wlan0"}, {"dst": "default", "dev": "eth0"}, {"dst": "default", "dev": "eth0"}]
    monkeypatch.setattr(network, "run", lambda _, **__: json.dumps(routes))
    assert network.uplinks() == ("eth0", "wlan0")


def test_the_other_labs_links_count_and_the_own_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    routes = [{"dst": "10.9.0.0/16", "dev": "gpl-abc-host"}, {"dst": "10.8.0.0/16", "dev": "gpl-abcd-v1"}]
    monkeypatch.setattr(network, "run", lambda _, **__: json.dumps(routes))
    assert network.used_by(IPv4Network("10.9.3.0/24"), but="gpl-abc-") is None
    assert network.used_by(IPv4Network("10.8.3.0/24"), but="gpl-abc-") == "gpl-abcd-v1 (10.8.0.0/16)"


def test_what_a_vpc_sends_is_translated_and_kept_from_the_machines_own_metadata(cloud_lab: LabDescription) -> None:
    assert cloud_lab.cloud is not None
    rules = [line.strip() for line in network.machine_rules(cloud_lab, ("eth0",)).splitlines()]
    assert f'ip saddr {cloud_lab.cloud.public_range} oifname "eth0" masquerade' in rules
    assert f'iifname "gpl-{cloud_lab.id}-v*" ip daddr 169.254.0.0/16 drop' in rules


def test_what_is_for_an_address_that_no_instance_has_ends_in_the_router(cloud_lab: LabDescription) -> None:
    assert cloud_lab.cloud is not None
    rules = [line.strip() for line in network.router_rules(cloud_lab).splitlines()]
    for held in (cloud_lab.cloud.cidr, cloud_lab.cloud.public_range):
        assert f'iifname "up0" ip daddr {held} drop' in rules
