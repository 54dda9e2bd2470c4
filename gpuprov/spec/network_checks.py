"""Checks of where the cloud's network is, how its hosts reach out, and what of it is open to the world."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Final

from gpuprov.model.address import join
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.addresses import read_range, refuse_range
from gpuprov.spec.cloud import CloudNetworkSpec

WORLD: Final = "0.0.0.0/0"
_SSH: Final = 22
_LARGEST: Final = 16
"""Shortest prefix of a VPC (Amazon VPC user guide, VPC CIDR blocks: /16 to /28; seen 2026-11-30)."""
_SMALLEST: Final = 24
"""Longest prefix that gpuprov takes: AWS takes /28, but each zone gets a subnet, and AWS keeps 5 addresses of each."""
_PRIVATE: Final = (IPv4Network("10.0.0.0/8"), IPv4Network("172.16.0.0/12"), IPv4Network("192.168.0.0/16"))
"""RFC 1918."""
_NAT_ROOM: Final = 22
"""Longest prefix of a network with NAT gateways: a /28 for each of eight zones is an eighth of a /22."""


def place_problems(network: CloudNetworkSpec, at: str) -> Iterator[Diagnostic]:
    """What is wrong with a network apart from its names and ranges.

    Args:
        network: the spec's.
        at: its address.
    """
    if network.cidr is not None:
        yield from _cidr(network.cidr, f"{at}.cidr")
    yield from _one_place(network, at)
    yield from _way_out(network, at)
    yield from _world(network, at)


def _cidr(text: str, at: str) -> Iterator[Diagnostic]:
    if refuse_range(text):
        return
    found = read_range(text)
    if not any(found.subnet_of(private) for private in _PRIVATE):
        hint = "take one of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16"
        yield _wrong(at, f"{text} is not a private range", hint)
    elif not _LARGEST <= found.prefixlen <= _SMALLEST:
        detail = f"AWS takes /16 to /28, and gpuprov puts a subnet into each zone: /{_LARGEST} to /{_SMALLEST}."
        which = "large" if found.prefixlen < _LARGEST else "small"
        yield _wrong(at, f"the network {text} is too {which}", "for example 10.20.0.0/16", detail)


def _one_place(network: CloudNetworkSpec, at: str) -> Iterator[Diagnostic]:
    existing = network.existing
    if existing is None:
        if network.cidr is None:
            yield Diagnostic(
                code="GP-SPEC-004",
                summary="the network has neither a range to be made with, nor is it one that is there",
                address=f"{at}.cidr",
                hint="write `cidr: 10.20.0.0/16`, or `existing: {tags: {...}}`",
            )
        return
    if bool(existing.subnets) == bool(existing.tags):
        both = "says its subnets twice, by id and by tag" if existing.subnets else "says neither subnets nor tags"
        hint = "write one of `subnets: [subnet-...]` and `tags: {key: value}`"
        yield _wrong(f"{at}.existing", f"the network that is there {both}", hint)
    if network.endpoints:
        what = "endpoints are made in a network of gpuprov's own only"
        yield _wrong(f"{at}.endpoints", what, "take `endpoints` away; whoever runs the existing network makes them")
    for index, subnet in enumerate(existing.subnets):
        if subnet in existing.subnets[:index]:
            yield _wrong(
                f"{at}.existing.subnets[{index}]", f"the subnet {subnet} is written twice", "take one of the two away"
            )


def _way_out(network: CloudNetworkSpec, at: str) -> Iterator[Diagnostic]:
    if network.public:
        if network.egress is not None:
            what = "hosts with public addresses reach out by them"
            yield _wrong(f"{at}.egress", what, "take `egress` away, or write `public: false`")
        return
    if network.existing is None and network.egress != "endpoints" and _prefix(network.cidr) > _NAT_ROOM:
        detail = f"Each NAT gateway has a subnet of its own in the network's last eighth: /{_NAT_ROOM} or larger."
        hint = "for example 10.20.0.0/16, or `egress: endpoints`"
        yield _wrong(f"{at}.cidr", f"the network {network.cidr} has no room for NAT gateways", hint, detail)
    if any(port == _SSH for port in network.world):
        what = "hosts without public addresses cannot be reached from the whole world"
        yield _wrong(f"{at}.world", what, "take 22 away")


def _world(network: CloudNetworkSpec, at: str) -> Iterator[Diagnostic]:
    """A port that is open to the world without `world`, and one of `world` that nothing opens."""
    opened = {
        _SSH: (network.ssh_from, f"{at}.ssh_from"),
        **{door.port: (door.ranges, f"{at}.open[{index}].ranges") for index, door in enumerate(network.open)},
    }
    wide = {name for name, ranges in network.ranges.items() if WORLD in ranges}
    if not network.world:
        return  # the range itself is refused
    for name in sorted(wide):
        if not any(name in names for names, _ in opened.values()):
            what = f"the range {name} is the whole world, and nothing names it"
            yield _wrong(join(f"{at}.ranges", name), what, "take the range away")
    for port, (names, where) in opened.items():
        for index, name in enumerate(names):
            if name in wide and port not in network.world:
                yield _wrong(
                    f"{where}[{index}]",
                    f"the port {port} would be open to the whole world, by the range {name}",
                    f"name the networks that people really come from; or say it twice: add {port} to `world`",
                )
    for index, port in enumerate(network.world):
        names, _ = opened.get(port, ((), ""))
        if not wide & set(names):
            what = f"`world` names the port {port}, which no range of the whole world is opened for"
            yield _wrong(f"{at}.world[{index}]", what, "take the port away")


def _prefix(cidr: str | None) -> int:
    return 0 if cidr is None or refuse_range(cidr) else read_range(cidr).prefixlen


def _wrong(at: str, summary: str, hint: str, detail: str = "") -> Diagnostic:
    return Diagnostic(code="GP-SPEC-005", summary=summary, address=at, detail=detail, hint=hint)
