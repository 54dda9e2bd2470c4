import stat
from pathlib import Path

import pysequoia
import pytest

from gpuprov.lab.vendor.signing import SigningKey, lasting_key, make_key


def verify(key: SigningKey, *, text: bytes, signature: bytes | None = None) -> bytes:
    certificate = pysequoia.Cert.from_bytes(key.public.encode())
    if signature is None:
        return bytes(pysequoia.verify(text, store=lambda _: [certificate]).bytes)
    found = pysequoia.verify(bytes=text, store=lambda _: [certificate], signature=pysequoia.Sig.from_bytes(signature))
    assert found.valid_sigs
    return text


def test_a_key_stays_the_same_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "a/key.pgp"
    first = lasting_key(path)
    assert lasting_key(path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["key.pgp"]


def test_the_public_part_holds_no_secret_and_verifies_what_the_secret_signed() -> None:
    key = make_key()
    assert key.public.startswith("-----BEGIN PGP PUBLIC KEY BLOCK-----")
    assert verify(key, text=key.sign_clear(b"Origin: NVIDIA\n")).strip() == b"Origin: NVIDIA"
    assert verify(key, text=b"Origin: NVIDIA\n", signature=key.sign_detached(b"Origin: NVIDIA\n"))


def test_another_keys_signature_does_not_pass() -> None:
    with pytest.raises(RuntimeError):
        verify(make_key(), text=make_key().sign_clear(b"Origin: NVIDIA\n"))
