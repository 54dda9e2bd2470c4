"""Recordings for others: host names, addresses and serial numbers get stand-ins, the same one wherever they occur."""

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gpuprov.model.snapshot import CollectorOutput, Recording

NAMING: Final = frozenset(
    {
        "clock",
        "containerd",
        "daemon_json",
        "files",
        "firewall",
        "kernel_log",
        "kernels",
        "mounts",
        "name",
        "rdma",
        "root",
        "runtimes",
        "sudo",
    }
)
"""Collectors whose output can name hosts and addresses as plain words.

Elsewhere only what cannot mean anything else is replaced (hosts of URLs, UUIDs): a host may be called `ubuntu`, and
versions of four numbers look like addresses.
"""
_UNTOUCHED: Final = frozenset({"boot", "os"})
"""The boot id says nothing of the host, and tells two boots apart; the release's file names its makers' servers."""
_KEPT: Final = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})
_SHORTEST: Final = 3
"""Characters of a name or serial number that is looked for as a word; a shorter one would be found in other words."""

_URL = re.compile(r"""([A-Za-z][A-Za-z0-9+.-]*://(?:\*\*\*@)?)([A-Za-z0-9][A-Za-z0-9.-]*)""")
_SERVER = re.compile(r"(?<=[: ,=])([A-Za-z0-9][A-Za-z0-9.-]*)(?=:/(?!/))")
"""Where a network file system comes from, as in `filer:/export`."""
_IPV4 = re.compile(r"(?<![\w.+~-])((?:\d{1,3}\.){3}\d{1,3})(?![\w+~-]|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])((?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4})(?![\w:.])")
_SOCKET = re.compile(r"(?<=: )([0-9A-F]{32}|[0-9A-F]{8})(?=:[0-9A-F]{4} )")
_UUID = re.compile(r"(?i)(?<![0-9a-f])(?<![0-9a-f]-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f-])")
_GUID = re.compile(r"(?:(?<=guid:)|(?<![\w:]))[0-9a-f]{4}(?::[0-9a-f]{4}){3}(?![\w:])")
_MAC = re.compile(r"(?i)(?<![\w:])[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?![\w:])")
_VOLUME = re.compile(r"(?<=vol)(-?)([0-9a-f]{8}|[0-9a-f]{17})(?![0-9a-f])")
_SIGNER = re.compile(r"(?m)^(?:signer: +|subject ).*")
"""Who signed a module, and whose keys are enrolled: a host's own key has its name. Both must change alike."""
_SERIAL = re.compile(
    r"(?i)\bserial(?:[ _-]?number)?[\"']?\s*[:=]\s*[\"']?(?!vol[0-9a-f]+\b)([A-Za-z0-9_.-]*[0-9][A-Za-z0-9_.-]*)"
)


_Words = re.Pattern[str] | None


def _any_of(words: set[str]) -> _Words:
    """A pattern of any of these words, with a domain or without, the longest first."""
    ordered = sorted((word for word in words if len(word) >= _SHORTEST), key=lambda word: (-len(word), word))
    if not ordered:
        return None
    choice = "|".join(map(re.escape, ordered))
    return re.compile(rf"(?<![A-Za-z0-9.-])(?:{choice})(?:\.[A-Za-z][A-Za-z0-9-]*)*(?![A-Za-z0-9-])", re.IGNORECASE)


class Sharing:
    """Stand-ins for one set of recordings: each name, address and number has one, in the order in which it is met."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, str]] = {}

    def host(self, name: str) -> str:
        """The stand-in of a host; its name with and without the domain is one."""
        short = name if _address(name) else name.split(".", maxsplit=1)[0]
        return self._stand_in("host", short.lower(), lambda n: f"host-{n}")

    def share(self, recording: Recording) -> Recording:
        """Give the same recording with stand-ins."""
        told = recording.collectors.get("name")
        names = {recording.host, *(told.stdout.split() if told is not None and told.status == 0 else ())} - _KEPT
        host = self.host(recording.host)
        serials = {found for output in recording.collectors.values() for found in _SERIAL.findall(output.stdout)}
        words = (_any_of(names), _any_of(serials))
        outputs = {name: self._output(name, output, *words) for name, output in sorted(recording.collectors.items())}
        return replace(recording, host=host, collectors=outputs)

    def _output(self, name: str, output: CollectorOutput, names: _Words, serials: _Words) -> CollectorOutput:
        if name in _UNTOUCHED:
            return output

        def shared(text: str) -> str:
            return self._text(name, text, names, serials)

        stdout = _decoded(output.stdout, shared) if name == "files" else output.stdout
        return replace(output, command=shared(output.command), stdout=shared(stdout), stderr=shared(output.stderr))

    def _text(self, collector: str, text: str, names: _Words, serials: _Words) -> str:
        if serials is not None:
            text = serials.sub(self._each("serial", lambda n: f"serial{n:05d}"), text)
        text = _UUID.sub(self._each("uuid", lambda n: f"00000000-0000-4000-8000-{n:012d}"), text)
        text = _MAC.sub(self._each("mac", lambda n: "02:00:" + _hexadecimal(n, 2)), text)
        text = _VOLUME.sub(lambda m: m[1] + self._stand_in("volume", m[2], lambda n: f"{n:017x}"), text)
        text = _URL.sub(lambda m: m[1] + self._server(m[2]), text)
        if collector == "exporters":
            return _SOCKET.sub(lambda m: self._socket(m[1]), text)
        if names is not None and collector in {"module", "secure_boot"}:
            return _SIGNER.sub(lambda line: names.sub(lambda m: self.host(m[0]), line[0]), text)
        if collector not in NAMING:
            return text
        if collector == "mounts":
            text = _SERVER.sub(lambda m: self._server(m[1]), text)
        if names is not None:
            text = names.sub(lambda m: self.host(m[0]), text)
        text = _GUID.sub(self._each("guid", lambda n: _hexadecimal(n, 4)), text)
        text = _IPV6.sub(lambda m: self._ip(m[1]), text)
        return _IPV4.sub(lambda m: self._ip(m[1]), text)

    def _stand_in(self, kind: str, what: str, make: Callable[[int], str]) -> str:
        known = self._known.setdefault(kind, {})
        return known.setdefault(what, make(len(known) + 1))

    def _each(self, kind: str, make: Callable[[int], str]) -> Callable[[re.Match[str]], str]:
        return lambda found: self._stand_in(kind, found[0].lower(), make)

    def _server(self, name: str) -> str:
        """The host of a URL or a mount: one of the recorded hosts, an address, or a server of the site's."""
        if name.lower() in _KEPT:
            return name
        if _address(name):
            return self._ip(name)
        if name.split(".", maxsplit=1)[0].lower() in self._known.get("host", {}):
            return self.host(name)
        return self._stand_in("server", name.lower(), lambda n: f"server-{n}.example")

    def _ip(self, text: str) -> str:
        """Addresses that are the same everywhere stay: loopback, any, the cloud's metadata, netmasks and prefixes."""
        address = _address(text)
        if address is None or address.is_loopback or address.is_unspecified:
            return text
        if isinstance(address, ipaddress.IPv4Address):
            if address in _BENCHMARK or address.is_link_local or text.startswith("255."):
                return text
            return self._stand_in("ipv4", str(address), lambda n: str(_BENCHMARK[n]))
        # A link-local address of IPv6 is made of the interface's own number, but for the prefix itself.
        if address in _DOCUMENTATION or text.endswith("::"):
            return text
        return self._stand_in("ipv6", str(address), lambda n: f"2001:db8::{n:x}")

    def _socket(self, text: str) -> str:
        """An address as /proc/net has it: in words of four bytes, each in a little-endian processor's order."""
        words = [bytes.fromhex(text[i : i + 8])[::-1] for i in range(0, len(text), 8)]
        address = ipaddress.ip_address(b"".join(words))
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        shared = ipaddress.ip_address(self._ip(str(mapped or address)))
        packed = (b"\0" * 10 + b"\xff\xff" + shared.packed) if mapped else shared.packed
        return b"".join(packed[i : i + 4][::-1] for i in range(0, len(packed), 4)).hex().upper()


_BENCHMARK: Final = ipaddress.IPv4Network("198.18.0.0/15")
"""Addresses for tests of networks (RFC 2544): they are nobody's, and there are enough."""
_DOCUMENTATION: Final = ipaddress.IPv6Network("2001:db8::/32")


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _hexadecimal(number: int, size: int) -> str:
    """A number as four groups of hexadecimal digits."""
    text = f"{number:0{4 * size}x}"
    return ":".join(text[i : i + size] for i in range(0, 4 * size, size))


def _decoded(text: str, shared: Callable[[str], str]) -> str:
    """The texts of files travel encoded: they are gone over as text, and encoded again."""
    lines = []
    for line in text.split("\n"):
        if line.startswith("text "):
            try:
                plain = base64.b64decode(line.removeprefix("text "), validate=True).decode()
            except (binascii.Error, ValueError):
                lines.append(line)
                continue
            lines.append("text " + base64.b64encode(shared(plain).encode()).decode())
        else:
            lines.append(line)
    return "\n".join(lines)
