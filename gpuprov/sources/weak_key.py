"""Signatures of a key whose own self-signatures are SHA-1: by the bare primary key, and by nothing that SHA-1 says.

A library refuses all that such a key signs, also with a sound digest, since what a self-signature says (names, expiry,
subkeys) could be forged. Where the catalog names the key's fingerprint for an operating system, none of this is needed:
the primary key itself must have signed the index, RSA over SHA-256 or better (RFC 9580, sections 5.2.3 and 5.2.4).
"""

import hashlib
import hmac
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import pysequoia

from gpuprov.sources.keys import Cert

_BEGIN: Final = b"-----BEGIN PGP SIGNED MESSAGE-----"
_SIGNATURE: Final = b"-----BEGIN PGP SIGNATURE-----"
_RSA: Final = frozenset({1, 3})
"""Algorithm numbers: RSA for anything, and for signatures alone."""
_LEAST_BITS: Final = 2048
_BINARY, _TEXT = 0, 1
_CREATED, _EXPIRES, _ISSUER, _HASHED_ISSUER = 2, 3, 16, 33
_KNOWN: Final = frozenset({_CREATED, _EXPIRES, _ISSUER, _HASHED_ISSUER, 20, 28})
"""Subpackets that may be marked as critical; 20 is a notation, 28 the signer's user id: neither changes anything."""
_DIGESTS: Final[dict[int, tuple[Callable[[bytes], "hashlib._Hash"], bytes]]] = {
    8: (hashlib.sha256, bytes.fromhex("3031300d060960864801650304020105000420")),
    9: (hashlib.sha384, bytes.fromhex("3041300d060960864801650304020205000430")),
    10: (hashlib.sha512, bytes.fromhex("3051300d060960864801650304020305000440")),
}
"""Digest algorithm's number -> the digest, and its DigestInfo (RFC 8017, section 9.2)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Key:
    """A primary key's public part."""

    fingerprint: bytes
    created: int
    modulus: int
    exponent: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Signed:
    """One signature packet."""

    kind: int
    digest: int
    hashed: bytes
    """Everything that the digest covers beside the text."""
    number: int
    created: int
    expires: int
    """Seconds after `created`; 0: never."""
    issuer: bytes
    """Fingerprint or key id; empty where it says none."""


def inline_by_primary(data: bytes, certs: Sequence[Cert], now: datetime) -> bytes | None:
    """The text of an InRelease, where one of the keys' primary keys signed it; None otherwise.

    Args:
        data: the file.
        certs: keys that the catalog excepts.
        now: a signature of the future, or one that expired, does not count.
    """
    begin, end = data.find(_BEGIN), data.rfind(_SIGNATURE)
    if begin < 0 or end < begin or data.count(_BEGIN) != 1 or data.count(_SIGNATURE) != 1:
        return None
    head, blank, framed = data[begin:end].replace(b"\r\n", b"\n").partition(b"\n\n")
    if not blank or not all(line.startswith(b"Hash: ") for line in head.split(b"\n")[1:]):
        return None
    # What the signature covers: lines without trailing blanks, dash escapes taken away (section 7.2).
    lines = [line.removeprefix(b"- ").rstrip(b" \t") for line in framed.removesuffix(b"\n").split(b"\n")]
    good = _good(b"\r\n".join(lines), data[end:], certs, now, kind=_TEXT)
    return b"\n".join(lines) if good else None


def detached_by_primary(data: bytes, signature: bytes, certs: Sequence[Cert], now: datetime) -> bool:
    """Whether one of the keys' primary keys signed a file, of which `signature` is the detached signature."""
    return _good(data, signature, certs, now, kind=_BINARY)


def _good(text: bytes, signature: bytes, certs: Sequence[Cert], now: datetime, *, kind: int) -> bool:
    try:
        keys = [_key(cert) for cert in certs]
        packets = [_signed(bytes(packet.body)) for packet in _packets(signature, pysequoia.packet.Tag.Signature)]
    except (RuntimeError, ValueError, IndexError):
        return False
    return any(
        signed.kind == kind and _fresh(signed, key, now) and _verifies(text, signed, key)
        for signed in packets
        if signed is not None
        for key in keys
        if key is not None and key.fingerprint.endswith(signed.issuer) and signed.issuer
    )


def _packets(data: bytes, tag: object) -> Iterator[pysequoia.packet.Packet]:
    return (packet for packet in pysequoia.packet.PacketPile.from_bytes(data) if packet.tag == tag)


def _key(cert: Cert) -> _Key | None:
    """The primary key of a certificate; None where it is no RSA key of form 4, too short, or revoked."""
    revoked = pysequoia.packet.SignatureType.KeyRevocation
    if any(packet.signature_type == revoked for packet in _packets(bytes(cert), pysequoia.packet.Tag.Signature)):
        return None
    body = bytes(next(_packets(bytes(cert), pysequoia.packet.Tag.PublicKey)).body)
    if body[0] != 4 or body[5] not in _RSA:  # noqa: PLR2004 - the form
        return None
    modulus, after = _number(body, 6)
    exponent, _ = _number(body, after)
    if modulus.bit_length() < _LEAST_BITS:
        return None
    return _Key(
        fingerprint=bytes.fromhex(cert.fingerprint),
        created=int.from_bytes(body[1:5]),
        modulus=modulus,
        exponent=exponent,
    )


def _signed(body: bytes) -> _Signed | None:
    """One signature; None for another form, algorithm or digest, or where a critical part is not known."""
    if body[0] != 4 or body[2] not in _RSA or body[3] not in _DIGESTS:  # noqa: PLR2004 - the form
        return None
    size = 6 + int.from_bytes(body[4:6])
    open_size = int.from_bytes(body[size : size + 2])
    number, _ = _number(body, size + 2 + open_size + 2)
    hashed = list(_subpackets(body[6:size]))
    if any(critical and kind not in _KNOWN for kind, critical, _ in hashed):
        return None
    parts = {kind: value for kind, _, value in hashed}
    unhashed = {kind: value for kind, _, value in _subpackets(body[size + 2 : size + 2 + open_size])}
    # The issuer only picks the key, so that it may stand outside of what is signed.
    issuer = parts.get(_HASHED_ISSUER, b"")[1:] or parts.get(_ISSUER) or unhashed.get(_ISSUER, b"")
    return _Signed(
        kind=body[1],
        digest=body[3],
        hashed=body[:size] + b"\x04\xff" + size.to_bytes(4),
        number=number,
        created=int.from_bytes(parts.get(_CREATED, b"")),
        expires=int.from_bytes(parts.get(_EXPIRES, b"")),
        issuer=issuer,
    )


def _subpackets(data: bytes) -> Iterator[tuple[int, bool, bytes]]:
    """Type, whether it is critical, and value."""
    at = 0
    while at < len(data):
        size, at = data[at], at + 1
        if size >= 255:  # noqa: PLR2004 - section 5.2.3.7
            size, at = int.from_bytes(data[at : at + 4]), at + 4
        elif size >= 192:  # noqa: PLR2004
            size, at = ((size - 192) << 8) + data[at] + 192, at + 1
        if size < 1 or at + size > len(data):
            raise ValueError("a subpacket ends beyond its area")
        yield data[at] & 0x7F, bool(data[at] & 0x80), data[at + 1 : at + size]
        at += size


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A multi-precision integer, and where the next one begins."""
    end = at + 2 + (int.from_bytes(data[at : at + 2]) + 7) // 8
    if end > len(data):
        raise ValueError("a number ends beyond its packet")
    return int.from_bytes(data[at + 2 : end]), end


def _fresh(signed: _Signed, key: _Key, now: datetime) -> bool:
    moment = int(now.astimezone(UTC).timestamp())
    ends = signed.created + signed.expires if signed.expires else moment + 1
    return key.created <= signed.created <= moment < ends


def _verifies(text: bytes, signed: _Signed, key: _Key) -> bool:
    """RSASSA-PKCS1-v1_5 (RFC 8017, section 8.2.2): the whole encoded message is made anew and compared."""
    make, info = _DIGESTS[signed.digest]
    size = (key.modulus.bit_length() + 7) // 8
    if signed.number >= key.modulus:
        return False
    end = info + make(text + signed.hashed).digest()
    wanted = b"\x00\x01" + b"\xff" * (size - len(end) - 3) + b"\x00" + end
    return hmac.compare_digest(pow(signed.number, key.exponent, key.modulus).to_bytes(size), wanted)
