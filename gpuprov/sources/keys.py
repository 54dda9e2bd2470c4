"""The public keys that may sign a source: read, named, and refused when they are expired or revoked."""

import os
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol

from gpuprov.model.diagnostic import Diagnostic, GpuprovError

# Without it every refused signature would carry the library's stack trace in its text.
os.environ.setdefault("RUST_BACKTRACE", "0")

import pysequoia

_SHA1: Final = "SHA1"


class Cert(Protocol):
    """What is used of pysequoia's certificates."""

    @property
    def fingerprint(self) -> str:
        """Lower-case hex."""

    @property
    def expiration(self) -> datetime | None:
        """None when it does not expire."""

    @property
    def is_revoked(self) -> bool:
        """Whether the key carries its own revocation."""

    def __bytes__(self) -> bytes: ...


def read_keys(data: bytes, source: str) -> tuple[Cert, ...]:
    """Read armoured or binary public keys, one or several.

    Raises:
        GpuprovError: GP-SRC-006 when there is none, or the bytes are something else.
    """
    try:
        certs: tuple[Cert, ...] = tuple(pysequoia.Cert.split_bytes(data))
    except RuntimeError as error:
        raise GpuprovError(_unreadable(source, str(error).splitlines()[0])) from error
    if not certs:
        raise GpuprovError(_unreadable(source, "it holds no key"))
    return certs


def _unreadable(source: str, what: str) -> Diagnostic:
    return Diagnostic(
        code="GP-SRC-006",
        address=f"sources.{source}",
        summary=f"the key of source {source} cannot be read: {what}",
        detail="Expected are one or several OpenPGP public keys, armoured (.asc) or binary (.gpg).",
        hint="Download the key again, and compare its fingerprint with the one its owner publishes.",
    )


def fingerprints(certs: Sequence[Cert]) -> tuple[str, ...]:
    """Upper-case hex fingerprints, sorted."""
    return tuple(sorted(cert.fingerprint.upper() for cert in certs))


def armoured(certs: Sequence[Cert]) -> str:
    """All keys as armoured text, in the order of their fingerprints."""
    ordered = sorted(certs, key=lambda cert: cert.fingerprint)
    return "".join(pysequoia.armor(bytes(cert), pysequoia.ArmorKind.PublicKey).rstrip("\n") + "\n" for cert in ordered)


def unusable(cert: Cert, now: datetime) -> str:
    """Why a key may not vouch for anything now; empty when it may."""
    if cert.is_revoked:
        return f"key {cert.fingerprint.upper()} is revoked"
    if cert.expiration is not None and cert.expiration <= now:
        return f"key {cert.fingerprint.upper()} expired on {cert.expiration:%Y-%m-%d}"
    return ""


def weak_self_signatures(cert: Cert) -> bool:
    """Whether a key binds its names with SHA-1 only, which the verifier refuses."""
    hashes = [
        str(packet.hash_algorithm)
        for packet in pysequoia.packet.PacketPile.from_bytes(bytes(cert))
        if packet.tag == pysequoia.packet.Tag.Signature
    ]
    return bool(hashes) and all(_SHA1 in name.upper().replace("-", "") for name in hashes)
