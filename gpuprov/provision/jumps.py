"""Jump hosts as ssh writes them: `[user@]host[:port],...`."""

import re
from collections.abc import Callable

from gpuprov.model.host import Connection

_JUMP = re.compile(
    r"(?:ssh://)?(?:(?P<user>[^@\s]+)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:@\[\]/]+)(?::(?P<port>\d{1,5}))?/?"
)


def read_place(text: str) -> tuple[str | None, str, int] | None:
    """Read `[user@]host[:port]`: user, host and port (22 when none is given); None for another form."""
    found = _JUMP.fullmatch(text.strip())
    if found is None:
        return None
    return found["user"], found["host"].strip("[]"), int(found["port"] or 22)


def read_jumps(
    text: str, host: str, ssh_config: str | None, refuse: Callable[[str, str, str], None]
) -> tuple[Connection, ...]:
    """Make the connections of a ProxyJump.

    As with ssh, options of the command line do not reach the jump hosts, except the configuration file: their keys,
    users and known_hosts come from there.
    """
    if text.lower() == "none":
        return ()
    jumps = []
    for part in text.split(","):
        place = read_place(part)
        if place is None:
            refuse("ProxyJump", part, "[user@]host[:port]")
            continue
        user, address, port = place
        jumps.append(
            Connection(
                host=f"{address} (jump host of {host})", address=address, port=port, user=user, ssh_config=ssh_config
            )
        )
    return tuple(jumps)
