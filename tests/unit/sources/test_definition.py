"""What the lock records of a source, and what it never holds."""

from typing import Any

import pysequoia
import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.sources.definition import locked
from gpuprov.sources.keys import read_keys
from gpuprov.sources.layout import release_root


def test_the_lock_holds_keys_and_no_password(repository: Any) -> None:
    other = pysequoia.Tsk.generate("other").extract_certificate()
    definition = repository.definition(
        url="https://ana:s3cr3t@mirror.example/apt?token=s3cr3t", keys=repository.public + bytes(other)
    )
    row = locked(definition)
    assert row.url == "https://mirror.example/apt"
    assert row.fingerprints == tuple(sorted(c.fingerprint.upper() for c in read_keys(definition.keys, "x")))
    assert [c.fingerprint.upper() for c in read_keys(row.key_text.encode(), "x")] == list(row.fingerprints)
    assert "s3cr3t" not in repr(row) + repr(definition)


def test_of_the_archive_the_lock_holds_nothing_of_this_machine(repository: Any) -> None:
    row = locked(repository.definition("os/stable", suite="stable", components=("main",), on_host=False))
    assert (row.name, row.suite) == ("os/stable", "stable")
    assert (row.url, row.components, row.fingerprints, row.key_text) == ("", (), (), "")


def test_a_priority_is_recorded_with_what_names_the_source_to_apt(repository: Any) -> None:
    row = locked(repository.definition(priority=100), "o=Site,l=Site")
    assert (row.priority, row.selector) == (100, "o=Site,l=Site")
    row = locked(repository.definition(), "o=Site,l=Site")
    assert (row.priority, row.selector) == (None, "")
    with pytest.raises(GpuprovError, match="GP-SRC-010"):
        locked(repository.definition(priority=100))


@pytest.mark.parametrize("data", [b"", b"no key", b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n"])
def test_what_is_no_key_is_refused(repository: Any, data: bytes) -> None:
    with pytest.raises(GpuprovError, match="GP-SRC-006"):
        locked(repository.definition(keys=data))


@pytest.mark.parametrize(
    ("url", "suite", "root"),
    [
        ("https://x.example/repo/", "/", "https://x.example/repo/"),
        ("https://x.example/repo", "./", "https://x.example/repo/"),
        ("https://x.example/deb", "stable/amd64/", "https://x.example/deb/stable/amd64/"),
        ("https://x.example/deb", "bookworm", "https://x.example/deb/dists/bookworm/"),
        ("https://x.example/deb/", "bookworm/updates", "https://x.example/deb/dists/bookworm/updates/"),
    ],
)
def test_both_layouts_have_their_release_where_apt_looks(repository: Any, url: str, suite: str, root: str) -> None:
    assert release_root(repository.definition(url=url, suite=suite)) == root
