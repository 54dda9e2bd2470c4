"""What an instance's console output says about its SSH host keys.

cloud-init prints the public host keys at the end of an instance's first boot (module keys_to_console, documented in
cloud-init's reference). The console output is read through AWS's API, so that it vouches for the keys.
"""

from typing import Final

from gpuprov.cloud.ssh_keys import PublicKey, find_key

_BEGIN: Final = "-----BEGIN SSH HOST KEY KEYS-----"
_END: Final = "-----END SSH HOST KEY KEYS-----"


def find_host_keys(console: str) -> tuple[PublicKey, ...]:
    """The host keys that the console output shows, sorted; empty while it shows none.

    The last block counts: an instance that made new keys printed them later. Lines may carry a prefix (`ec2:`, a
    syslog priority, a kernel's time). A key that another message cut in two is left out, the others count. Keys outside
    a block, such as cloud-init's table of authorized keys, are no host keys.

    Args:
        console: text of the serial console, lines ended by CR LF or LF.
    """
    _, begin, rest = console.rpartition(_BEGIN)
    if not begin:
        return ()
    block, _, _ = rest.partition(_END)
    found = (find_key(line) for line in block.splitlines())
    return tuple(sorted({key for key in found if key is not None}))


def last_lines(console: str, count: int) -> str:
    """The last lines of the console output that hold anything, for a person who looks for a cause."""
    lines = [line.rstrip() for line in console.splitlines() if line.strip()]
    return "\n".join(lines[-count:])
