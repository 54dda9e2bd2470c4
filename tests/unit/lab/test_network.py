import json
from ipaddress import IPv4Network

import pytest

from gpuprov.lab import network
from gpuprov.lab.description import LabDescription
from gpuprov.lab.seed import draw


@pytest.fixture
def lab() -> LabDescription:
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
