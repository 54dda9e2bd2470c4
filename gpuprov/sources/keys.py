"""The public keys that may sign a source: read, named, and refused when they are expired or revoked."""

import os
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol

from gpuprov.model.diagnostic import Diagnostic, GpuprovError

# Without it every refused signature would carry the library's stack trace in its text.
os.environ.setdefault("RUST_LIB_BACKTRACE", "0")

import pysequoia

_SHA1: Final = "SHA1"
WEAK: Final = "SHA-1 only, which can be forged"
"""Ends the reason against what a weak digest vouches for."""


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
    name = f"key {cert.fingerprint.upper()}"
    try:
        if cert.is_revoked:
            return f"{name} is revoked"
        if cert.expiration is not None and cert.expiration <= now:
            return f"{name} expired on {cert.expiration:%Y-%m-%d}"
    except RuntimeError as error:  # no self-signature of it counts
        weak = set(digests_of(bytes(cert))) == {_SHA1}
        return f"{name} is bound to its names by {WEAK}" if weak else f"{name}: {str(error).splitlines()[0]}"
    return ""


def digests_of(packets: bytes) -> list[str]:
    """The digest algorithms of all signatures in OpenPGP packets, such as `SHA512`; none where there are no packets."""
    try:
        pile = list(pysequoia.packet.PacketPile.from_bytes(packets))
    except (RuntimeError, ValueError):
        return []
    found = [str(packet.hash_algorithm) for packet in pile if packet.tag == pysequoia.packet.Tag.Signature]
    return [name.rpartition(".")[2].upper().replace("-", "") for name in found]
