"""The key of the lab's vendor repository, and signatures with it."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pysequoia

USER_ID = "gpuprov lab vendor repository <vendor@gpuprov.invalid>"
_RENEW_BEFORE = timedelta(days=90)


@dataclass(frozen=True, kw_only=True, slots=True)
class SigningKey:
    """A key pair of the lab; it signs nothing but the lab's own repositories."""

    secret: bytes
    public: str
    """The certificate as people hand it out: ASCII armour."""
    fingerprint: str
    """Upper case hexadecimal digits."""

    def sign_clear(self, text: bytes) -> bytes:
        """Gives the text with its signature around it (InRelease)."""
        return self._sign(text, pysequoia.SignatureMode.CLEAR)

    def sign_detached(self, text: bytes) -> bytes:
        """Gives a signature to lie beside the text (Release.gpg)."""
        return self._sign(text, pysequoia.SignatureMode.DETACHED)

    def _sign(self, text: bytes, mode: pysequoia.SignatureMode) -> bytes:
        return bytes(pysequoia.sign(pysequoia.Tsk.from_bytes(self.secret).signer(), text, mode=mode))


def make_key() -> SigningKey:
    """Makes a new key pair (Ed25519, valid for three years)."""
    return _from_secret(bytes(pysequoia.Tsk.generate(user_id=USER_ID)))


def lasting_key(path: Path) -> SigningKey:
    """Gives the key kept in a file, so that re-signing keeps it; makes one when none is there or it ends soon."""
    if path.exists():
        secret = path.read_bytes()
        expiration = pysequoia.Tsk.from_bytes(secret).extract_certificate().expiration
        if expiration is None or expiration > datetime.now(UTC) + _RENEW_BEFORE:
            return _from_secret(secret)
    key = make_key()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key.secret)
    temporary.replace(path)
    return key


def _from_secret(secret: bytes) -> SigningKey:
    certificate = pysequoia.Tsk.from_bytes(secret).extract_certificate()
    return SigningKey(secret=secret, public=str(certificate), fingerprint=str(certificate.fingerprint).upper())
