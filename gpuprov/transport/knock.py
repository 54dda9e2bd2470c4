"""Whether an ssh server greets, from here or from behind a jump host; nobody logs in to it."""

import os
import socket

from gpuprov.model.host import Connection
from gpuprov.transport.route import resolve_route

_GREETING = b"SSH-"
"""What every ssh server says first (RFC 4253, section 4.2); a listening port alone may be a proxy's."""


def greets(address: str, port: int = 22, *, jump: Connection | None, seconds: float) -> bool:
    """Whether an ssh server answers at an address.

    Args:
        address: where.
        port: its port.
        jump: the host to go through, whose own key must be on record; None for the direct way.
        seconds: how long, for the connection and again for the greeting.

    Raises:
        GpuprovError: GP-SSH-001 to GP-SSH-004, GP-INV-003 when the jump host itself cannot be used.
    """
    if jump is None:
        try:
            with socket.create_connection((address, port), timeout=seconds) as link:
                return link.recv(len(_GREETING)) == _GREETING
        except OSError:
            return False
    # paramiko takes half a second to import: sites without a jump host do without it.
    from gpuprov.transport.link import greets_behind  # noqa: PLC0415

    return greets_behind(resolve_route(jump, dict(os.environ)), address, port, seconds)
