"""Signatures of a repository's Release: only bytes that a usable key of the source signed come out of here."""

from collections.abc import Sequence
from datetime import datetime

import pysequoia

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.sources.keys import Cert, fingerprints, unusable, weak_self_signatures


def verify_inline(data: bytes, certs: Sequence[Cert], source: str, now: datetime) -> bytes:
    """Verify an InRelease and return just the signed text; what stands before or after it is dropped.

    Raises:
        GpuprovError: GP-SRC-002 (no good signature), GP-SRC-007 (only of expired, revoked or weak keys).
    """
    try:
        verified = pysequoia.verify(data, lambda _: list(certs))
    except (RuntimeError, ValueError) as error:
        raise GpuprovError(_refused(source, certs, str(error).splitlines()[0], now)) from error
    _check_signers([sig.certificate for sig in verified.valid_sigs], certs, source, now)
    if verified.bytes is None:
        raise GpuprovError(_refused(source, certs, "the signature covers nothing", now))
    return bytes(verified.bytes)


def verify_detached(data: bytes, signature: bytes, certs: Sequence[Cert], source: str, now: datetime) -> bytes:
    """Verify a Release by its Release.gpg and return it; one good signature of several is enough."""
    signers: list[str] = []
    trouble = "no signature in Release.gpg"
    for each in _split(signature, source, certs, now):
        try:
            verified = pysequoia.verify(data, lambda _: list(certs), signature=each)
        except (RuntimeError, ValueError) as error:
            trouble = str(error).splitlines()[0]
            continue
        signers += [sig.certificate for sig in verified.valid_sigs]
    if not signers:
        raise GpuprovError(_refused(source, certs, trouble, now))
    _check_signers(signers, certs, source, now)
    return data


def _split(signature: bytes, source: str, certs: Sequence[Cert], now: datetime) -> list[pysequoia.Sig]:
    try:
        pile = pysequoia.packet.PacketPile.from_bytes(signature)
        return [pysequoia.Sig.from_bytes(bytes(p)) for p in pile if p.tag == pysequoia.packet.Tag.Signature]
    except (RuntimeError, ValueError) as error:
        raise GpuprovError(_refused(source, certs, str(error).splitlines()[0], now)) from error


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
    weak = [cert.fingerprint.upper() for cert in certs if weak_self_signatures(cert)]
    if weak and len(weak) + len(dead) >= len(certs):
        hint = "Ask its owner for a key without SHA-1, or use a mirror of the repository that you sign yourself."
        return _bad_key(source, f"key {weak[0]} is bound to its names by SHA-1 only, which can be forged", hint)
    if len(dead) == len(certs):
        return _bad_key(source, "; ".join(dead))
    return Diagnostic(
        code="GP-SRC-002",
        address=f"sources.{source}",
        summary=f"the index of source {source} carries no good signature of its keys",
        detail=f"{what}\nAccepted are the keys {', '.join(fingerprints(certs))}.",
        hint="If the owner changed the key, add the new one to the source after comparing its fingerprint; "
        "otherwise somebody or something changed the index on its way.",
    )


def _bad_key(
    source: str,
    what: str,
    hint: str = "Get the owner's present key, compare its fingerprint, and name it in the source.",
) -> Diagnostic:
    return Diagnostic(
        code="GP-SRC-007",
        address=f"sources.{source}",
        summary=f"source {source} is signed by a key that is refused: {what}",
        hint=hint,
    )
