"""Texts of `access` and `tuning`: public SSH keys, rules of sudo, names of settings and limits."""

import base64
import binascii
import re
from typing import Final

# Keys that OpenSSH 9.2 (Debian 12) takes by default (sshd_config(5), PubkeyAcceptedAlgorithms); ssh-dss is refused.
_TYPES: Final = frozenset(
    {
        "ssh-ed25519",
        "ssh-rsa",
        "ecdsa-sha2-nistp256",
        "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521",
        "sk-ssh-ed25519@openssh.com",
        "sk-ecdsa-sha2-nistp256@openssh.com",
    }
)
_LENGTH: Final = 4
"""Bytes of the length before each part of a key (RFC 4253, section 6.6)."""

# limits.conf(5), Debian 12.
LIMITS: Final = (
    "as", "chroot", "core", "cpu", "data", "fsize", "locks", "maxlogins", "maxsyslogins", "memlock", "msgqueue", "nice",
    "nofile", "nproc", "priority", "rss", "rtprio", "sigpending", "stack",
)  # fmt: skip
"""What users' sessions can be limited in."""
LOGIN: Final = r"[a-z_][a-z0-9_-]{0,30}"
SYSCTL: Final = r"[a-z0-9_]+(\.[A-Za-z0-9_-]+)+"
LIMIT: Final = "|".join(LIMITS)
LIMIT_VALUE: Final = r"unlimited|-1|[0-9]{1,18}"


def refuse_key(text: str) -> str:
    """What is wrong with a public SSH key in one line; empty for a good one."""
    if "PRIVATE KEY" in text:
        return "a private key stands here: it is known to whoever can read this file, and must be made anew"
    if not text.isprintable():
        return "the key has several lines, or a character that cannot be printed"
    kind, _, rest = text.strip().partition(" ")
    if kind == "ssh-dss":
        return "sshd does not take keys of this kind (ssh-dss)"
    if kind not in _TYPES:
        return f"a public key begins with its kind, such as ssh-ed25519, and not with {kind[:40] or 'nothing'}"
    return _refuse_body(kind, rest.strip().partition(" ")[0])


def _refuse_body(kind: str, body: str) -> str:
    try:
        blob = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return "the key's second part is not base64"
    parts = _parts(blob)
    if len(parts) < 2 or parts[0] != kind.encode():  # noqa: PLR2004 - the kind, and at least one number
        return f"the key is cut off, or is none of the kind {kind}"
    return ""


def _parts(blob: bytes) -> list[bytes]:
    """The parts of a key, each with its length before it; none where the last is cut off."""
    parts = []
    while blob:
        length = int.from_bytes(blob[:_LENGTH])
        part, blob = blob[_LENGTH : _LENGTH + length], blob[_LENGTH + length :]
        if len(part) < length or not length:
            return []
        parts.append(part)
    return parts


def refuse_sudo(text: str) -> str:
    """What is wrong with a command that sudo allows; empty for a good one."""
    if not text.startswith("/"):
        return f"the command {text.split(' ', maxsplit=1)[0]} has no absolute path"
    if not text.isprintable() or '"' in text or "\\" in text:
        return "the command holds a quote, a backslash, or a character that cannot be printed"
    if text.split(" ", maxsplit=1)[0].endswith("/"):
        return "the command is a folder"
    return ""


def refuse_login(text: str) -> str:
    """What is wrong with the name of a user or group that gpuprov makes; empty for a good one."""
    if text == "root":
        return "root is not made or changed by gpuprov"
    return "" if re.fullmatch(LOGIN, text) else "no user or group has such a name"


def refuse_setting(text: str) -> str:
    """What is wrong with the value of a kernel setting; empty for a good one."""
    if not text.strip():
        return "the value is empty"
    return "" if text.isprintable() else "the value has several lines"
