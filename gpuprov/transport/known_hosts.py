"""known_hosts files: which keys are on record for a host, and whether the key it shows is one of them."""

import base64
import binascii
import fnmatch
import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One line of a known_hosts file."""

    file: str
    line: int
    marker: str
    """`@revoked`, `@cert-authority` or empty."""
    hosts: str
    """The first field: comma-separated patterns, or one hashed name."""
    key_type: str
    blob: bytes
    """The public key in SSH's wire form."""

    def names(self, name: str) -> bool:
        """Whether the line speaks of this host (`name`, or `[name]:port`)."""
        if self.hosts.startswith("|1|"):
            return _matches_hash(self.hosts, name)
        matched = False
        for pattern in self.hosts.lower().split(","):
            # Brackets are literal in [host]:port but a class for fnmatch.
            shape = pattern.removeprefix("!").replace("[", "[[]")
            if fnmatch.fnmatchcase(name, shape):
                if pattern.startswith("!"):
                    return False
                matched = True
        return matched


class Verdict(Enum):
    """What the files say about a key that a host showed."""

    KNOWN = "known"
    """The key is on record for the host."""
    CHANGED = "changed"
    """Another key is on record for the host."""
    UNKNOWN = "unknown"
    """No key is on record for the host."""
    REVOKED = "revoked"
    """The key is marked as revoked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """A verdict and the line it rests on."""

    verdict: Verdict
    entry: Entry | None = None


def _matches_hash(field: str, name: str) -> bool:
    # |1|base64(salt)|base64(HMAC-SHA1(salt, name)): sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT".
    parts = field.split("|")
    if len(parts) != 4:  # noqa: PLR2004 - the form above
        return False
    try:
        salt, digest = base64.b64decode(parts[2]), base64.b64decode(parts[3])
    except (binascii.Error, ValueError):
        return False
    return hmac.compare_digest(hmac.new(salt, name.encode(), hashlib.sha1).digest(), digest)


def parse_known_hosts(text: str, file: str) -> list[Entry]:
    """Read the lines of one file; lines that are no entry are passed over, as ssh does."""
    entries = []
    for number, raw in enumerate(text.splitlines(), start=1):
        fields = raw.split()
        if not fields or fields[0].startswith("#"):
            continue
        marker = fields.pop(0) if fields[0].startswith("@") else ""
        if len(fields) < 3:  # noqa: PLR2004 - hosts, type, key
            continue
        try:
            blob = base64.b64decode(fields[2], validate=True)
        except (binascii.Error, ValueError):
            continue
        entries.append(Entry(file=file, line=number, marker=marker, hosts=fields[0], key_type=fields[1], blob=blob))
    return entries


def read_known_hosts(paths: Iterable[str]) -> list[Entry]:
    """Read several files in order; a file that is not there holds no keys.

    Raises:
        OSError: a file is there and cannot be read.
    """
    entries: list[Entry] = []
    for path in paths:
        try:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            continue
        entries += parse_known_hosts(text, path)
    return entries


def lookup_name(name: str, port: int) -> str:
    """The name under which a host's key is on record: `name`, or `[name]:port` away from port 22."""
    return name.lower() if port == 22 else f"[{name.lower()}]:{port}"  # noqa: PLR2004 - ssh's own port


def entries_for(entries: Iterable[Entry], name: str, port: int) -> list[Entry]:
    """The lines that speak of a host; away from port 22 also those that name it without a port, last."""
    entries = list(entries)
    found = [e for e in entries if e.names(lookup_name(name, port))]
    if not any(e.marker == "" for e in found):
        found += [e for e in entries if e not in found and e.names(name.lower())]
    return found


def judge_key(entries: Iterable[Entry], name: str, port: int, blob: bytes) -> Judgement:
    """Say what the files say about the key that a host showed.

    A line that names the host without its port can vouch for a key (as in ssh) but is no evidence of a change: another
    server may answer on another port.
    """
    found = entries_for(entries, name, port)
    for entry in found:
        if entry.marker == "@revoked" and entry.blob == blob:
            return Judgement(verdict=Verdict.REVOKED, entry=entry)
    plain = [e for e in found if e.marker == ""]
    for entry in plain:
        if entry.blob == blob:
            return Judgement(verdict=Verdict.KNOWN, entry=entry)
    exact = [e for e in plain if e.names(lookup_name(name, port))]
    if exact:
        key_type = _type_of(blob)
        same_type = [e for e in exact if e.key_type == key_type]
        return Judgement(verdict=Verdict.CHANGED, entry=(same_type or exact)[0])
    return Judgement(verdict=Verdict.UNKNOWN)


def _type_of(blob: bytes) -> str:
    length = int.from_bytes(blob[:4], "big")
    return blob[4 : 4 + length].decode("ascii", "replace")


def fingerprint(blob: bytes) -> str:
    """The fingerprint as ssh shows it: `SHA256:` and base64 without padding."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def order_algorithms(entries: Iterable[Entry], offered: Iterable[str]) -> tuple[str, ...]:
    """Put the host key algorithms whose keys are on record first, so that the host shows a key that can be checked."""
    types = {e.key_type for e in entries if e.marker == ""}
    signatures = {"rsa-sha2-512": "ssh-rsa", "rsa-sha2-256": "ssh-rsa"}
    offered = list(offered)
    known = [a for a in offered if signatures.get(a, a) in types]
    return tuple(known + [a for a in offered if a not in known])
