"""Signatures that are refused though they verify: files made with GnuPG 2.2, of keys that were then thrown away."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pysequoia
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.sources.keys import read_keys
from gpuprov.sources.signature import verify_detached, verify_inline
from gpuprov.sources.weak_key import detached_by_primary

CASES = next(p for p in Path(__file__).parents if p.name == "tests") / "cases" / "sources"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
RELEASE = (CASES / "Release").read_bytes()
SIGNED = RELEASE.rstrip(b"\n")  # the last line break belongs to the signature's frame (RFC 9580, 7.1)


def verified(signed: str, *keys: str) -> bytes:
    certs = read_keys(b"".join((CASES / key).read_bytes() for key in keys), "test")
    return verify_inline((CASES / signed).read_bytes(), certs, "test", NOW)


def refusal(signed: str, *keys: str) -> Diagnostic:
    with pytest.raises(GpuprovError) as caught:
        verified(signed, *keys)
    (found,) = caught.value.diagnostics
    return found


def test_a_sound_signature_gives_the_signed_text() -> None:
    assert verified("strong.InRelease", "strong.asc") == SIGNED
    assert verified("strong.InRelease", "sha1-key.asc", "strong.asc") == SIGNED


def test_a_signature_over_a_sha1_digest_is_refused() -> None:
    """resolver-facts: gpgv accepts it unless it is told of weak digests."""
    found = refusal("sha1-signature.InRelease", "strong.asc")
    assert (found.code, "signed by SHA-1 only" in found.detail) == ("GP-SRC-002", True)
    certs = read_keys((CASES / "strong.asc").read_bytes(), "test")
    with pytest.raises(GpuprovError) as caught:
        verify_detached(RELEASE, (CASES / "sha1-signature.Release.gpg").read_bytes(), certs, "test", NOW)
    (detached,) = caught.value.diagnostics
    assert (detached.code, "signed by SHA-1 only" in detached.detail) == ("GP-SRC-002", True)


def test_a_key_that_is_bound_to_its_name_by_sha1_is_refused_by_name() -> None:
    found = refusal("sha1-key.InRelease", "sha1-key.asc")
    assert (found.code, "by SHA-1 only" in found.summary) == ("GP-SRC-007", True)
    assert "mirror" in found.hint
    with_another = refusal("sha1-key.InRelease", "sha1-key.asc", "strong.asc")
    assert (with_another.code, "by SHA-1 only" in with_another.detail) == ("GP-SRC-002", True)


def test_a_key_of_somebody_else_is_no_weak_key() -> None:
    found = refusal("sha1-key.InRelease", "strong.asc")
    assert (found.code, "no good signature" in found.summary) == ("GP-SRC-002", True)


def excepted(*names: str) -> frozenset[str]:
    return frozenset(cert.fingerprint.upper() for name in names for cert in read_keys((CASES / name).read_bytes(), "t"))


WEAK = read_keys((CASES / "sha1-other.asc").read_bytes(), "test")
OTHER = excepted("sha1-other.asc")


def test_the_bare_key_is_trusted_where_its_fingerprint_is_excepted() -> None:
    certs = read_keys((CASES / "sha1-key.asc").read_bytes(), "test")
    signed = (CASES / "sha1-key.InRelease").read_bytes()
    assert verify_inline(signed, certs, "test", NOW, excepted("sha1-key.asc")) == SIGNED
    assert verify_inline(b"before\n" + signed + b"after\n", certs, "test", NOW, excepted("sha1-key.asc")) == SIGNED
    detached = (CASES / "sha1-other.Release.gpg").read_bytes()
    assert verify_detached(RELEASE, detached, WEAK, "test", datetime.now(UTC), OTHER) == RELEASE


def test_what_is_signed_are_lines_without_trailing_blanks_and_dash_escapes() -> None:
    odd = (CASES / "sha1-other.odd").read_bytes()
    text = b"Origin: gpuprov test\n- dashed\n-----not a frame\n\tindented\n\nlast"
    assert verify_inline(odd, WEAK, "test", datetime.now(UTC), OTHER) == text
    assert verify_inline(odd.replace(b"\n", b"\r\n"), WEAK, "test", datetime.now(UTC), OTHER) == text


@pytest.mark.parametrize(
    ("change", "names", "days"),
    [
        ((b"", b""), ("strong.asc",), 0),  # the catalog excepts another key
        ((b"0 Packages", b"1 Packages"), ("sha1-key.asc",), 0),
        ((b"Origin", b"- Origin\nOrigin"), ("sha1-key.asc",), 0),
        ((b"Hash: SHA512\n", b"Hash: SHA512\nComment: x\n"), ("sha1-key.asc",), 0),
        (
            (b"-----BEGIN PGP SIGNED", b"-----BEGIN PGP SIGNED MESSAGE-----\n\nx\n-----BEGIN PGP SIGNED"),
            ("sha1-key.asc",),
            0,
        ),
        ((b"", b""), ("sha1-key.asc",), -400),  # signed in the future
    ],
)
def test_an_excepted_key_excepts_nothing_else(change: tuple[bytes, bytes], names: tuple[str, ...], days: int) -> None:
    certs = read_keys((CASES / "sha1-key.asc").read_bytes(), "test")
    signed = (CASES / "sha1-key.InRelease").read_bytes()
    moment = NOW + timedelta(days=days)
    with pytest.raises(GpuprovError) as caught:
        verify_inline(signed.replace(*change, 1), certs, "test", moment, excepted(*names))
    assert caught.value.diagnostics[0].code in {"GP-SRC-002", "GP-SRC-007"}


@pytest.mark.parametrize(
    ("key", "signature"),
    [("sha1-other.asc", "sha1-other.sha1.gpg"), ("sha1-revoked.asc", "sha1-other.Release.gpg")],
    ids=["a digest of SHA-1", "a revoked key"],
)
def test_an_excepted_key_is_still_refused_for_what_it_did(key: str, signature: str) -> None:
    certs = read_keys((CASES / key).read_bytes(), "test")
    with pytest.raises(GpuprovError):
        verify_detached(RELEASE, (CASES / signature).read_bytes(), certs, "test", datetime.now(UTC), OTHER)


BODY = next(bytes(p) for p in pysequoia.packet.PacketPile.from_bytes((CASES / "sha1-other.Release.gpg").read_bytes()))


def packet(body: bytes) -> bytes:
    """A signature packet of the length that takes two octets (RFC 9580, section 4.2.1)."""
    size = len(body) - 192
    return bytes([0xC2, (size >> 8) + 192, size & 0xFF]) + body


@given(data=st.data())
def test_no_changed_byte_of_a_signature_passes(data: st.DataObject) -> None:
    """Neither a traceback nor a pass: the parser of packets is our own."""
    body = next(bytes(p.body) for p in pysequoia.packet.PacketPile.from_bytes(BODY))
    hashed = 6 + int.from_bytes(body[4:6])
    number = len(body) - 3072 // 8
    assert detached_by_primary(RELEASE, packet(body), WEAK, datetime.now(UTC))
    # Between the two stand the issuer's key id, two bytes of the digest and the number's length: hints, and not signed.
    at = data.draw(st.sampled_from([*range(hashed), *range(number, len(body))]))
    changed = bytearray(body)
    changed[at] ^= data.draw(st.integers(min_value=1, max_value=255))
    assert not detached_by_primary(RELEASE, packet(bytes(changed)), WEAK, datetime.now(UTC))


@given(data=st.binary(max_size=600))
def test_no_packet_of_any_bytes_passes_or_raises(data: bytes) -> None:
    assert not detached_by_primary(RELEASE, packet(data + bytes(200)), WEAK, datetime.now(UTC))
