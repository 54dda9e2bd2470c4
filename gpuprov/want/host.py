"""The want of a host: its pool's, with its own values."""

from gpuprov.document.canonical import digest
from gpuprov.want.types import HostWant, PoolWant


def host_want(want: PoolWant, host: str) -> HostWant:
    """Say what one host must be; its name is so far the only value of its own."""
    return HostWant(host=host, pool=want, digest=digest({"host": host, "pool": want.digest}))
