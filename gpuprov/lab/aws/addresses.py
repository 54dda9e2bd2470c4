"""Public addresses, handed out of the lab's range in turn: a stopped instance comes back with another."""

import threading
from collections.abc import Callable, Collection
from ipaddress import IPv4Network

from gpuprov.lab.aws.errors import refusal

_FIRST, _LAST = 32, 255
"""Which host numbers of the range are handed out: the first 32 are for routers, the last is nobody's."""


class PublicAddresses:
    """The account's pool of public addresses.

    Args:
        public_range: a /24 in CIDR form.
        in_use: says which addresses are in use now.
    """

    def __init__(self, public_range: str, in_use: Callable[[], Collection[str]]) -> None:
        network = IPv4Network(public_range)
        self._pool = [str(network[number]) for number in range(_FIRST, _LAST)]
        self._in_use = in_use
        self._next = 0
        self._lock = threading.Lock()

    def take(self) -> str:
        """Return a free address, the one that was handed out longest ago.

        Raises:
            Exception: EC2's InsufficientAddressCapacity; the whole range is in use.
        """
        with self._lock:
            used = set(self._in_use())
            for _ in self._pool:
                address = self._pool[self._next]
                self._next = (self._next + 1) % len(self._pool)
                if address not in used:
                    return address
        raise refusal("InsufficientAddressCapacity", "There are no free public addresses.")
