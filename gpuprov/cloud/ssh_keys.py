"""Public keys of SSH as lines of text: which are whole, and which are not."""

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Final

_PARTS: Final = {
    "ssh-ed25519": 2,
    "ssh-rsa": 3,
    "ecdsa-sha2-nistp256": 3,
    "ecdsa-sha2-nistp384": 3,
    "ecdsa-sha2-nistp521": 3,
    "sk-ssh-ed25519@openssh.com": 3,
    "sk-ecdsa-sha2-nistp256@openssh.com": 4,
}
"""Key type -> strings in its wire form, the type itself first (RFC 4253 6.6, RFC 5656 3.1, RFC 8709 4, OpenSSH's
PROTOCOL.u2f)."""

_KEY: Final = re.compile(
    r"(?<![\w@.-])(?P<type>" + "|".join(re.escape(kind) for kind in _PARTS) + r") (?P<blob>[A-Za-z0-9+/]{40,}={0,2})"
    r"(?![\w+/=])"
)


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class PublicKey:
    """A public key."""

    type: str
    blob: bytes
    """The key in SSH's wire form."""

    @property
    def text(self) -> str:
        """`ssh-ed25519 AAAA...`, as known_hosts and authorized_keys write it."""
        return f"{self.type} {base64.b64encode(self.blob).decode()}"


def find_key(line: str) -> PublicKey | None:
    """The whole public key in a line, wherever it stands; None for no key, and for one that is cut or damaged."""
    found = _KEY.search(line)
    if found is None:
        return None
    try:
        blob = base64.b64decode(found["blob"], validate=True)
    except (binascii.Error, ValueError):
        return None
    return PublicKey(type=found["type"], blob=blob) if _is_whole(blob, found["type"]) else None


def _is_whole(blob: bytes, kind: str) -> bool:
    parts = []
    while blob:
        length = int.from_bytes(blob[:4], "big")
        if len(blob) < 4 + length:
            return False
        parts.append(blob[4 : 4 + length])
        blob = blob[4 + length :]
    return len(parts) == _PARTS[kind] and parts[0] == kind.encode()
