"""Signatures that are refused though they verify: files made with GnuPG 2.2, of keys that were then thrown away."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.sources.keys import read_keys
from gpuprov.sources.signature import verify_detached, verify_inline

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
