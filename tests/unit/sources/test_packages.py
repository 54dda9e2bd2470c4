"""Packages files as archives write them, and dependency fields."""

import gzip
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.lock.index import Relation
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.sources import packages
from gpuprov.sources.packages import parse_groups, parse_relations, stanzas_of

TEXT = """Package: docker.io
Source: docker.io (20.10.24+dfsg1-1)
Version: 20.10.24+dfsg1-1+b3
Architecture: amd64
Essential:
Depends: libc6 (>= 2.34),
 containerd (>= 1.4) |
\tcontainerd.io,
 iptables
Description: Linux container runtime
 Depends: this line belongs to the description
Filename: pool/main/d/docker.io/docker.io_20.10.24+dfsg1-1+b3_amd64.deb
SHA256: AA

package: odd
VERSION: 1
filename: odd.deb


Package: last
Version: 2
Filename: last.deb"""


def test_stanzas_are_read_with_folded_and_empty_fields(tmp_path: Path) -> None:
    path = tmp_path / "Packages"
    path.write_text(TEXT)
    first, odd, last = stanzas_of(path, "", "test")
    assert first["Essential"] == ""
    assert "description" not in first["Depends"]
    assert [[r.name for r in group] for group in parse_groups(first["Depends"], "amd64")] == [
        ["libc6"],
        ["containerd", "containerd.io"],
        ["iptables"],
    ]
    assert (odd["Package"], odd["Version"], last["Filename"]) == ("odd", "1", "last.deb")


@given(size=st.integers(1, 40))
def test_law_the_size_of_a_read_changes_nothing(size: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("lists") / "Packages"
    path.write_text(TEXT)
    with pytest.MonkeyPatch.context() as patch:
        expected = list(stanzas_of(path, "", "test"))
        patch.setattr(packages, "_CHUNK", size)
        assert list(stanzas_of(path, "", "test")) == expected


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        (".xz", lzma.compress(TEXT.encode())[:-20]),
        (".gz", gzip.compress(TEXT.encode())[:-20]),
        (".gz", gzip.compress(TEXT.encode())[:40] + bytes(200)),
        (".xz", b"no xz"),
        (".gz", b"no gz"),
        ("", TEXT.encode() + b"\xff"),
        ("", b"Package: a\nVersion: 1\n"),
    ],
)
def test_damage_is_refused(tmp_path: Path, suffix: str, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(GpuprovError, match="GP-SRC-005"):
        list(stanzas_of(path, suffix, "test"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", [Relation("a")]),
        ("a (>= 1:2.0-1~x)", [Relation("a", ">=", "1:2.0-1~x")]),
        ("a(<<2)", [Relation("a", "<<", "2")]),
        ("a (> 2), b (< 3)", [Relation("a", ">=", "2"), Relation("b", "<=", "3")]),
        ("python3:any (>= 3.11)", [Relation("python3", ">=", "3.11")]),
        ("a:amd64, b:i386", [Relation("a"), Relation("b:i386")]),
        ("g++, libstdc++6 (= 1)", [Relation("g++"), Relation("libstdc++6", "=", "1")]),
        ("a [linux-any]", [Relation("a")]),
        ("", []),
        ("a,", [Relation("a")]),
    ],
)
def test_relations_are_read(text: str, expected: list[Relation]) -> None:
    assert list(parse_relations(text, "amd64")) == expected


@pytest.mark.parametrize(
    "text", ["a (~> 1)", "a (>= )", "(>= 1)", "a b", "a | | b", "a (>= 1", "a (>= 1_0)", "a (>= v1)"]
)
def test_what_is_no_dependency_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no "):
        parse_groups(text, "amd64")
