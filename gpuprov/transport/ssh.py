"""The way to a host: ssh (by paramiko) or this machine itself."""

import logging
import os

from gpuprov.model.host import Connection
from gpuprov.transport.local import LocalTransport
from gpuprov.transport.protocol import Transport
from gpuprov.transport.route import resolve_route


def connect(connection: Connection, *, timeout: float | None = None) -> Transport:
    """Connect to a host and log in.

    Args:
        connection: how to reach it; of kind `local` it is this machine.
        timeout: seconds for each step (connection, login) instead of the connection's own.

    Raises:
        GpuprovError: GP-SSH-001 to GP-SSH-004, GP-INV-003.
    """
    if connection.kind == "local":
        return LocalTransport(connection)
    # paramiko takes half a second to import: commands that touch no host do without it.
    from gpuprov.transport.link import open_route  # noqa: PLC0415
    from gpuprov.transport.session import SshTransport  # noqa: PLC0415

    _quieten()
    route = resolve_route(connection, dict(os.environ))
    return SshTransport(connection, open_route(route, timeout))


def _quieten() -> None:
    # Without a handler, logging prints paramiko's errors on stderr; each reaches the user as a diagnostic instead.
    logger = logging.getLogger("paramiko")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
