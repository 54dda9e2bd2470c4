import json

import pytest

from gpuprov.lab import network
from gpuprov.lab.description import LabDescription
from gpuprov.lab.seed import draw
from gpuprov.model.diagnostic import GpuprovError


@pytest.fixture
def lab() -> LabDescription:
    return next(lab for lab in map(draw, range(100)) if lab.subnet.startswith("172."))


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
    ("target", "verdict"),
    [
        ("default", "free"),
        ("192.0.2.0/24", "free"),
        ("{subnet}", "used"),
        ("{router}", "used"),
        ("128.0.0.0/1", "used"),
    ],
)
def test_an_address_range_in_use_is_refused(
    lab: LabDescription, monkeypatch: pytest.MonkeyPatch, target: str, verdict: str
) -> None:
    routes = [{"dst": target.format(subnet=lab.subnet, router=lab.router), "dev": "vpn0"}]
    monkeypatch.setattr(network, "run", lambda _, **__: json.dumps(routes))
    if verdict == "free":
        network.check_subnet(lab)
        return
    with pytest.raises(GpuprovError) as caught:
        network.check_subnet(lab)
    assert "vpn0" in caught.value.diagnostics[0].summary
    assert "seed" in caught.value.diagnostics[0].hint


def test_uplinks_are_the_links_of_the_default_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    routes = [{"dst": "default", "dev": "wlan0"}, {"dst": "default", "dev": "eth0"}, {"dst": "default", "dev": "eth0"}]
    monkeypatch.setattr(network, "run", lambda _, **__: json.dumps(routes))
    assert network.uplinks() == ("eth0", "wlan0")
