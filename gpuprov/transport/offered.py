"""The host keys that an SSH server shows, for comparing with a fingerprint that somebody vouches for."""

import contextlib
import socket
from collections.abc import Iterator
from typing import Final

import paramiko

_KINDS: Final = (
    ("ssh-ed25519",),
    ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"),
    ("rsa-sha2-512", "rsa-sha2-256"),
)
"""A server shows one key in a connection: the first of its own that the client asks for (RFC 4253, 7.1)."""


def offered_keys(address: str, *, port: int = 22, seconds: float) -> Iterator[tuple[str, bytes]]:
    """The keys of a server, one of each kind, each by a connection of its own that ends before any login.

    Args:
        address: where it is.
        port: its port.
        seconds: for each connection.

    Yields:
        Type of the key, and the key in SSH's wire form. Nothing here says that it is the right server's.

    Raises:
        OSError: it does not answer.
    """
    for kinds in _KINDS:
        with socket.create_connection((address, port), timeout=seconds) as link:
            session = paramiko.Transport(link)
            try:
                session.get_security_options().key_types = kinds
                with contextlib.suppress(paramiko.SSHException):  # it has no key of this kind
                    session.start_client(timeout=seconds)
                    key = session.get_remote_server_key()
                    yield key.get_name(), key.asbytes()
            finally:
                session.close()
