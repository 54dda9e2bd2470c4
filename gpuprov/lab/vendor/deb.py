"""Writes binary packages (.deb) in Python: two gzipped tar archives in an ar archive, always the same bytes."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

MODIFIED = 1_764_460_800
"""Modification time of everything in a package (2025-11-30 00:00 UTC): fixed, so that packages are reproducible."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One file or symbolic link of a package; owned by root."""

    path: str
    """Absolute path on the host."""
    data: bytes = b""
    mode: int = 0o644
    link: str | None = None
    """Target of a symbolic link; None for a file."""
    conffile: bool = False
    """Whether dpkg keeps an administrator's changes to it."""


def write_deb(control: str, entries: Sequence[Entry], scripts: Mapping[str, str]) -> bytes:
    """Gives a package.

    Args:
        control: the text of the control file, ending in a newline.
        entries: files and links; folders follow from their paths.
        scripts: maintainer scripts by name (`postinst`, `prerm`, ...).
    """
    sums = "".join(
        f"{hashlib.md5(e.data, usedforsecurity=False).hexdigest()}  {e.path[1:]}\n" for e in entries if e.link is None
    )
    meta = [Entry(path="/control", data=control.encode()), Entry(path="/md5sums", data=sums.encode())]
    conffiles = "".join(f"{entry.path}\n" for entry in entries if entry.conffile)
    if conffiles:
        meta.append(Entry(path="/conffiles", data=conffiles.encode()))
    meta += [Entry(path=f"/{name}", data=text.encode(), mode=0o755) for name, text in scripts.items()]
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", _tar(meta)),
        ("data.tar.gz", _tar(entries)),
    ]
    return b"!<arch>\n" + b"".join(_member(name, data) for name, data in members)


def _tar(entries: Sequence[Entry]) -> bytes:
    """Gives a gzipped tar archive with the folders of all entries before the entries themselves."""
    folders = {parent for entry in entries for parent in PurePosixPath(entry.path).parents}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for folder in sorted(folders, key=str):
            archive.addfile(_info("./" if str(folder) == "/" else f".{folder}/", 0o755, kind=tarfile.DIRTYPE))
        for entry in sorted(entries, key=lambda entry: entry.path):
            if entry.link is not None:
                archive.addfile(_info(f".{entry.path}", 0o777, kind=tarfile.SYMTYPE, link=entry.link))
            else:
                info = _info(f".{entry.path}", entry.mode)
                info.size = len(entry.data)
                archive.addfile(info, io.BytesIO(entry.data))
    return gzip.compress(buffer.getvalue(), compresslevel=1, mtime=MODIFIED)


def _info(name: str, mode: int, *, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.mtime, info.linkname = kind, mode, MODIFIED, link
    info.uname = info.gname = "root"
    return info


def _member(name: str, data: bytes) -> bytes:
    header = f"{name:<16}{MODIFIED:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode()
    return header + data + (b"\n" if len(data) % 2 else b"")
