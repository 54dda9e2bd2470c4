"""Ports that something listens on, by /proc/net: read once for two purposes; the kernel walks long tables for it."""

import re

from gpuprov.model.fact import Known, Observation, Unknown
from gpuprov.probe.collector import lines_of_files

SOCKETS = r"""
sockets=unknown
if [ -r /proc/net/tcp ]; then
  sockets=$(grep -s -H -E '^ *[0-9]+: [0-9A-F]+:[0-9A-F]{4} [0-9A-F]+:0000 0[7A] ' \
    /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6)
  printf 'sockets \n%s\n' "$sockets"
fi
listening() {
  case $sockets in unknown|*"$(printf ':%04X' "$1") "*' 0A '*) ;; *) return 1 ;; esac
}
"""
"""Prints the sockets, and gives the script `listening PORT`."""
_OPEN = {"tcp": "0A", "udp": "07"}
"""The state of a listening TCP socket, and of an UDP socket that anybody may write to (include/net/tcp_states.h)."""
_SOCKET = re.compile(r" *\d+: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) [0-9A-F]+:0000 (0[7A]) .*")
# The kernel prints words of four bytes in the processor's order: 127.0.0.1 is 0100007F on a little-endian one, as amd64
# and arm64 are.
_MAPPED = "0000000000000000FFFF0000"
"""What stands before an IPv4 address in an IPv6 socket."""
_LOOPBACK_6 = "0" * 24 + "01000000"


def read_ports(text: str) -> Observation:
    """Read `tcp 22 any` and the like; the reach is any, loopback, or address for one of the host's own."""
    if not text.startswith("sockets \n"):
        return Unknown("the host does not show its sockets in /proc/net")
    seen: set[tuple[str, int, str]] = set()
    for path, lines in lines_of_files(text).items():
        kind = path.rpartition("/")[2][:3]
        for line in lines:
            found = _SOCKET.fullmatch(line)
            if found is None:
                return Unknown(f"{path} has an unknown line: {line[:100]}")
            if found[3] == _OPEN.get(kind):
                seen.add((kind, int(found[2], 16), _reach(found[1])))
    return Known([f"{kind} {port} {reach}" for kind, port, reach in sorted(seen)])


def _reach(address: str) -> str:
    if not address.strip("0"):
        return "any"
    last = address.removeprefix(_MAPPED)
    local = last.endswith("7F") if len(last) == len("0100007F") else last == _LOOPBACK_6
    return "loopback" if local else "address"
