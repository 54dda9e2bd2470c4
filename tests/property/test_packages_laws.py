"""Laws of reading package lists: whatever bytes stand in one, it is read or refused, and never ends in a traceback."""

import gzip
import lzma
import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from gpuprov.lock.index import Group
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.sources.cache import IndexPart, build_cache, index_path
from gpuprov.sources.index import SourceIndex
from gpuprov.sources.layout import WantedFile
from gpuprov.sources.packages import parse_groups
from gpuprov.sources.release import IndexFile, parse_release

# Forms as archives and vendors write them (Debian 12, NVIDIA's flat repositories; made up values).
LIST = b"""Package: docker.io
Source: docker.io (20.10.24+dfsg1-1)
Version: 20.10.24+dfsg1-1+b3
Installed-Size: 150003
Architecture: amd64
Depends: adduser, containerd (>= 1.4~), iptables | nftables, libc6 (>= 2.34), libdevmapper1.02.1 (>= 2:1.02.97)
Recommends: apparmor, ca-certificates, xz-utils
Breaks: docker (<< 1.5~)
Multi-Arch: foreign
Filename: pool/main/d/docker.io/docker.io_20.10.24+dfsg1-1+b3_amd64.deb
Size: 36204180
SHA256: 90d41d1f85ec44a0b5c1b1b8cf4db7d1b5b0a1ad3c34ed7c4a0b2a8c1d0b5a11

Package: nvidia-open-580
Version: 580.95.05-1
Architecture: all
Pre-Depends: dpkg (>= 1.17.5)
Depends: nvidia-driver-cuda (= 580.95.05-1),
 nvidia-kernel-open-dkms:any (= 580.95.05-1) [amd64]
Provides: nvidia-driver (= 580.95.05), cuda-drivers
Conflicts: nvidia-legacy
Description: NVIDIA Driver
 A line of text.
 .
 Another one.
Filename: ./nvidia-open-580_580.95.05-1_all.deb
Size: 7004
SHA256: 0a0d41d1f85ec44a0b5c1b1b8cf4db7d1b5b0a1ad3c34ed7c4a0b2a8c1d0b5a1
Priority: optional

Package: base-files
Version: 12.4+deb12u12
Essential: yes
Priority: required
Architecture: amd64
Filename: pool/main/b/base-files/base-files_12.4+deb12u12_amd64.deb
SHA256: 1a0d41d1f85ec44a0b5c1b1b8cf4db7d1b5b0a1ad3c34ed7c4a0b2a8c1d0b5a1
"""
RELEASE = b"""Origin: Debian
Suite: oldstable
Codename: bookworm
Date: Sat, 11 Jul 2026 10:16:37 UTC
Valid-Until: Sat, 18 Jul 2026 10:16:37 UTC
Acquire-By-Hash: yes
Architectures: all amd64 arm64
Components: main contrib
SHA256:
 90d41d1f85ec44a0b5c1b1b8cf4db7d1b5b0a1ad3c34ed7c4a0b2a8c1d0b5a11  8790 main/binary-amd64/Packages.xz
"""
PIECES = st.one_of(
    st.sampled_from(
        [b"", b"\n", b"\n\n", b" ", b"\t", b":", b",", b"|", b"(", b")", b"\r\n", b"\0", b"\xff", b"-", b"_"]
    ),
    st.binary(max_size=6),
    st.sampled_from(LIST.splitlines(keepends=True)),
)
EDITS = st.lists(st.tuples(st.integers(0, len(LIST)), st.integers(0, 40), PIECES), min_size=1, max_size=6)
PACKERS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}


def edited(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """Replace some bytes at some places by others."""
    for place, length, piece in edits:
        data = data[:place] + piece + data[place + length :]
    return data


def read(data: bytes, suffix: str, folder: Path) -> list[tuple[str, str]]:
    """Everything that a list holds, by the way of a lock: parsed, cached, asked for by name."""
    path = folder / "list"
    path.write_bytes(data)
    wanted = WantedFile(file=IndexFile(path="Packages", size=len(data), sha256="0" * 64), suffix=suffix, urls=())
    parts = [IndexPart(source="test", rank=0, pin=500, wanted=wanted)]
    connection = build_cache(folder, parts, [path])
    with SourceIndex(connection=connection, path=index_path(folder, parts), arch="amd64") as index:
        found = [stanza for name in index.names() for stanza in index.stanzas(name)]
        for stanza in found:
            for relation in (r for group in stanza.needs for r in group):
                index.providers(relation.name)
        return [(stanza.name, stanza.version) for stanza in found]


def read_or_refused(data: bytes, suffix: str) -> list[tuple[str, str]] | None:
    """What a list holds; None where it is refused, with the one code for a list that cannot be read."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return read(data, suffix, Path(folder))
        except GpuprovError as error:
            if {d.code for d in error.diagnostics} != {"GP-SRC-005"}:
                raise
            return None


def test_the_list_itself_is_read() -> None:
    rows = [("base-files", "12.4+deb12u12"), ("docker.io", "20.10.24+dfsg1-1+b3"), ("nvidia-open-580", "580.95.05-1")]
    for suffix, pack in PACKERS.items():
        assert read_or_refused(pack(LIST), suffix) == rows


@given(edits=EDITS)
@example(edits=[(LIST.index(b"Version"), 9, b"Version:\xc2\xa0")])
@example(edits=[(LIST.index(b"SHA256"), 8, b"SHA1: ")])
@example(edits=[(LIST.index(b"Size: 3"), 6, b"Size: -")])
def test_law_a_changed_list_is_read_or_refused(edits: list[tuple[int, int, bytes]]) -> None:
    read_or_refused(edited(LIST, edits), "")


@given(edits=EDITS, suffix=st.sampled_from([".gz", ".xz"]))
@example(edits=[(3, 0, b"\n")], suffix=".gz")  # zlib's error is none of gzip's
def test_law_a_damaged_archive_is_read_or_refused(edits: list[tuple[int, int, bytes]], suffix: str) -> None:
    read_or_refused(edited(PACKERS[suffix](LIST), edits), suffix)


@given(data=st.binary(max_size=200), suffix=st.sampled_from(sorted(PACKERS)))
def test_law_any_bytes_are_read_or_refused(data: bytes, suffix: str) -> None:
    read_or_refused(data, suffix)


@given(text=st.one_of(st.text(max_size=60), st.text("ab1.:~+-()<>=|, \n[]", max_size=60)))
def test_law_any_text_is_a_dependency_or_is_refused_as_none(text: str) -> None:
    try:
        found: tuple[Group, ...] = parse_groups(text, "amd64")
    except ValueError as error:
        if "is no " not in str(error):
            raise
        return
    assert all(relation.name and bool(relation.relation) == bool(relation.version) for g in found for relation in g)
    assert parse_groups(", ".join(" | ".join(map(str, group)) for group in found), "amd64") == found


@given(edits=EDITS)
def test_law_a_changed_release_is_read_or_refused(edits: list[tuple[int, int, bytes]]) -> None:
    places = [(place % len(RELEASE), length, piece) for place, length, piece in edits]
    try:
        parse_release(edited(RELEASE, places), "test")
    except GpuprovError as error:
        if {d.code for d in error.diagnostics} != {"GP-SRC-005"}:
            raise
