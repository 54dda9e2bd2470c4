"""Laws over the cloud half: no text opens a port to more than a /8, and no two hosts have one name."""

from ipaddress import IPv4Network
from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprov.spec.decode import load

BASE = yaml.safe_load((Path(__file__).parents[2] / "cases" / "spec" / "cloud.yaml").read_text())["base"]
NETWORKS = st.builds(
    lambda address, prefix: IPv4Network((address, prefix), strict=False), st.integers(0, 2**32 - 1), st.integers(0, 32)
)
HOSTS = st.lists(st.sampled_from(["a", "b", "a-1", "builder", "a_1", "scratch"]), min_size=1, max_size=3)


@settings(deadline=None)
@given(ranges=st.lists(NETWORKS, min_size=1, max_size=3, unique=True))
def test_law_no_spec_that_loads_opens_a_port_to_more_than_a_slash_eight(ranges: list[IPv4Network]) -> None:
    text = BASE.replace("[203.0.113.0/24]", f"[{', '.join(str(network) for network in ranges)}]")
    spec, found = load(text, "gpuprov.yaml")
    wide = [network for network in ranges if network.prefixlen < 8]
    assert (spec is None) == bool(wide)
    assert {d.code for d in found} == ({"GP-SPEC-005"} if wide else set())
    assert len(found) == len(wide)


@settings(deadline=None)
@given(network=NETWORKS)
def test_law_a_network_that_loads_is_private_and_fits_a_vpc(network: IPv4Network) -> None:
    spec, found = load(BASE.replace("10.20.0.0/16", str(network)), "gpuprov.yaml")
    private = any(network.subnet_of(IPv4Network(block)) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
    assert (spec is not None) == (private and 16 <= network.prefixlen <= 24)
    assert len(found) <= 1


@settings(deadline=None)
@given(first=HOSTS, second=HOSTS)
def test_law_every_host_of_a_spec_that_loads_has_a_name_of_its_own(first: list[str], second: list[str]) -> None:
    other = f"  other: {{gpu: none, cloud: {{instance: m7i.large, hosts: [{', '.join(second)}]}}}}\nstorage:\n"
    text = BASE.replace("[train-a, train-b]", f"[{', '.join(first)}]").replace("storage:\n", other)
    spec, _ = load(text, "gpuprov.yaml")
    names = [*first, *second]
    sound = len(set(names)) == len(names) and not {"builder", "a_1", "scratch"} & set(names)
    assert (spec is not None) == sound
