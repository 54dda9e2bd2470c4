"""Ranges of IPv4 addresses as text."""

from ipaddress import IPv4Network, IPv6Network, ip_network


def refuse_range(text: str) -> str:
    """Say what is wrong with the text of a range; empty for a good one."""
    address, slash, _ = text.partition("/")
    try:
        found = ip_network(text, strict=False)
    except ValueError:
        return f"{text} is no range of addresses"
    if isinstance(found, IPv6Network):
        world = " and the whole world" if found.prefixlen == 0 else ""
        return f"{text} is IPv6{world}; the network has IPv4 only"
    if not slash:
        return f"{text} has no prefix length; one address is {text}/32"
    if str(found) != text:
        lies = address != str(found.network_address)
        return (
            f"{text} has bits beyond its prefix: that range is {found}" if lies else f"{text} is not written as {found}"
        )
    return ""


def read_range(text: str) -> IPv4Network:
    """The range that a text means, which `refuse_range` found good."""
    return IPv4Network(text)
