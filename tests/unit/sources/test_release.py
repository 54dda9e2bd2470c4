"""Release files of archives and vendors."""

from datetime import UTC, datetime

import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.sources.release import parse_release

DIGEST = "a" * 64


@pytest.mark.parametrize(
    ("head", "selector"),
    [
        (
            "Origin: Debian\nLabel: Debian\nSuite: oldstable\nCodename: bookworm\n",
            "o=Debian,l=Debian,a=oldstable,n=bookworm",
        ),
        ("Origin: NVIDIA\nLabel: NVIDIA CUDA\n", "o=NVIDIA,l=NVIDIA CUDA"),
        ("Origin: A, B\nLabel: C\n", "l=C"),  # a comma would begin another field of the pin
        ("", ""),
    ],
)
def test_a_repository_is_named_by_what_its_release_says(head: str, selector: str) -> None:
    release = parse_release(f"{head}SHA256:\n {DIGEST} 1 Packages\n".encode(), "test")
    assert release.selector == selector


def test_a_release_of_an_archive_is_read() -> None:
    text = (
        "Suite: oldstable\nCodename: bookworm\nDate: Sat, 11 Jul 2026 10:16:37 UTC\nAcquire-By-Hash: yes\n"
        "No-Support-for-Architecture-all: Packages\nArchitectures: all amd64 arm64\nComponents: main contrib\n"
        f"MD5Sum:\n 00 1 main/x\nSHA256:\n {DIGEST.upper()}     1484 main/binary-amd64/Packages.xz\n"
    )
    release = parse_release(text.encode(), "os")
    assert (release.suite, release.codename, release.by_hash, release.all_apart) == (
        "oldstable",
        "bookworm",
        True,
        False,
    )
    assert release.date == datetime(2026, 7, 11, 10, 16, 37, tzinfo=UTC)
    assert (release.valid_until, release.pin) == (None, 500)
    file = release.files["main/binary-amd64/Packages.xz"]
    assert (file.size, file.sha256) == (1484, DIGEST)


@pytest.mark.parametrize(
    ("head", "pin"),
    [("", 500), ("NotAutomatic: yes\n", 1), ("NotAutomatic: yes\nButAutomaticUpgrades: yes\n", 100)],
)
def test_priorities_are_apts(head: str, pin: int) -> None:
    assert parse_release(f"{head}SHA256:\n".encode(), "x").pin == pin


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Suite: x\nMD5Sum:\n 00 1 Packages\n", "no SHA256 list"),
        ("SHA256:\n abc 1 Packages\n", "a line of its SHA256 list"),
        (f"SHA256:\n {DIGEST} many Packages\n", "a line of its SHA256 list"),
        ("Valid-Until: tomorrow\nSHA256:\n", "'tomorrow' is no date"),
        ("<html>", "no SHA256 list"),
    ],
)
def test_a_release_that_cannot_be_read_is_refused(text: str, says: str) -> None:
    with pytest.raises(GpuprovError, match="GP-SRC-005") as caught:
        parse_release(text.encode(), "x")
    assert says in caught.value.diagnostics[0].summary
