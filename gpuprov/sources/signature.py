"""Signatures of a repository's Release: only bytes that a usable key of the source signed come out of here."""

from collections.abc import Collection, Sequence
from datetime import datetime

import pysequoia

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.sources.keys import WEAK, Cert, digests_of, fingerprints, unusable
from gpuprov.sources.weak_key import detached_by_primary, inline_by_primary


def verify_inline(
    data: bytes, certs: Sequence[Cert], source: str, now: datetime, excepted: Collection[str] = ()
) -> bytes:
    """Verify an InRelease and return just the signed text; what stands before or after it is dropped.

    Args:
        data: the file.
        certs: keys that may have signed it.
        source: name of the source, for errors.
        now: the time at which keys must be valid.
        excepted: fingerprints, in capitals, of keys whose own self-signatures need not be sound (weak_key.py).

    Raises:
        GpuprovError: GP-SRC-002 (no good signature), GP-SRC-007 (only of expired, revoked or weak keys).
    """
    try:
        verified = pysequoia.verify(data, lambda _: list(certs))
    except (RuntimeError, ValueError) as error:
        text = inline_by_primary(data, _excepted(certs, excepted), now)
        if text is not None:
            return text
        signature = data[data.find(b"-----BEGIN PGP SIGNATURE-----") :]
        raise GpuprovError(_refused(source, certs, _trouble(error, signature), now)) from error
    _check_signers([sig.certificate for sig in verified.valid_sigs], certs, source, now)
    if verified.bytes is None:
        raise GpuprovError(_refused(source, certs, "the signature covers nothing", now))
    return bytes(verified.bytes)


def verify_detached(
    data: bytes,
    signature: bytes,
    certs: Sequence[Cert],
    source: str,
    now: datetime,
    excepted: Collection[str] = (),
) -> bytes:
    """Verify a Release by its Release.gpg and return it; one good signature of several is enough.

    Args and errors as `verify_inline`.
    """
    signers: list[str] = []
    trouble = "no signature in Release.gpg"
    for each in _split(signature, source, certs, now):
        try:
            verified = pysequoia.verify(data, lambda _: list(certs), signature=each)
        except (RuntimeError, ValueError) as error:
            trouble = _trouble(error, signature)
            continue
        signers += [sig.certificate for sig in verified.valid_sigs]
    if not signers:
        if detached_by_primary(data, signature, _excepted(certs, excepted), now):
            return data
        raise GpuprovError(_refused(source, certs, trouble, now))
    _check_signers(signers, certs, source, now)
    return data


def _excepted(certs: Sequence[Cert], excepted: Collection[str]) -> list[Cert]:
    return [cert for cert in certs if cert.fingerprint.upper() in excepted]


def _split(signature: bytes, source: str, certs: Sequence[Cert], now: datetime) -> list[pysequoia.Sig]:
    try:
        pile = pysequoia.packet.PacketPile.from_bytes(signature)
        return [pysequoia.Sig.from_bytes(bytes(p)) for p in pile if p.tag == pysequoia.packet.Tag.Signature]
    except (RuntimeError, ValueError) as error:
        raise GpuprovError(_refused(source, certs, str(error).splitlines()[0], now)) from error


def _trouble(error: Exception, signature: bytes) -> str:
    """What a library says of a signature it refuses; it does not say when the digest is the reason."""
    weak = set(digests_of(signature)) == {"SHA1"}
    return f"The index is signed by {WEAK}." if weak else str(error).splitlines()[0]


def _check_signers(signers: Sequence[str], certs: Sequence[Cert], source: str, now: datetime) -> None:
    """A library accepts what a key signed before it expired; an archive's index must be vouched for today."""
    by_print = {cert.fingerprint: cert for cert in certs}
    reasons = [unusable(by_print[signer], now) for signer in signers if signer in by_print]
    if not reasons:
        raise GpuprovError(_refused(source, certs, "no signature is of one of the source's keys", now))
    if all(reasons):
        raise GpuprovError(_bad_key(source, "; ".join(reasons)))


def _refused(source: str, certs: Sequence[Cert], what: str, now: datetime) -> Diagnostic:
    dead = [reason for cert in certs if (reason := unusable(cert, now))]
    if len(dead) == len(certs):
        return _bad_key(source, "; ".join(dead))
    accepted = [cert for cert in certs if not unusable(cert, now)]
    lines = [what, f"Accepted are the keys {', '.join(fingerprints(accepted))}.", *(f"Refused is: {d}." for d in dead)]
    return Diagnostic(
        code="GP-SRC-002",
        address=f"sources.{source}",
        summary=f"the index of source {source} carries no good signature of its keys",
        detail="\n".join(lines),
        hint="If the owner changed the key, add the new one to the source after comparing its fingerprint; "
        "otherwise somebody or something changed the index on its way.",
    )


def _bad_key(source: str, what: str) -> Diagnostic:
    new = "Get the owner's present key, compare its fingerprint, and name it in the source."
    mirror = "Ask its owner for a key without SHA-1, or use a mirror of the repository that you sign yourself."
    return Diagnostic(
        code="GP-SRC-007",
        address=f"sources.{source}",
        summary=f"source {source} is signed by a key that is refused: {what}",
        hint=mirror if WEAK in what else new,
    )
