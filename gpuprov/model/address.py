"""Addresses: dotted paths that name a field of the spec, a fact or a facet, such as `package["docker.io"].version`."""

import re
from typing import Final

_MEMBER: Final = re.compile(r'^(?P<family>[a-z_]+)\["(?P<member>(?:[^"\\]|\\.)*)"\](?:\.(?P<leaf>.+))?$')


def member_address(family: str, member: str, leaf: str = "") -> str:
    """Write the address of one member of a family: `file["/etc/motd"].mode`.

    Args:
        family: lower-case name, such as `package`.
        member: any text; quotes and backslashes are escaped.
        leaf: the part of the member, or empty for the member itself.
    """
    quoted = member.replace("\\", "\\\\").replace('"', '\\"')
    return f'{family}["{quoted}"]' + (f".{leaf}" if leaf else "")


def split_address(address: str) -> tuple[str, str, str] | None:
    """Split a member's address into family, member and leaf; None when the address names no member."""
    found = _MEMBER.match(address)
    if found is None:
        return None
    member = re.sub(r"\\(.)", r"\1", found["member"])
    return found["family"], member, found["leaf"] or ""


def pattern_of(address: str) -> str:
    """The facet pattern of an address: members become `*`, as in `package[*].version`."""
    parts = split_address(address)
    if parts is None:
        return address
    family, _, leaf = parts
    return f"{family}[*]" + (f".{leaf}" if leaf else "")


def join(address: str, key: str) -> str:
    """The address of a key: `pools.train`, `files["/etc/motd"]`."""
    if key.replace("-", "_").isidentifier() or (key.isascii() and key.replace("-", "").isalnum()):
        return f"{address}.{key}" if address else key
    quoted = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'{address}["{quoted}"]'
