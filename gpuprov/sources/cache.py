"""The cache of parsed indexes: one SQLite file per set of index files, with a row per package version.

Dependency fields stay text in the file and are read when a package is asked for: a lock needs some hundred of 60,000.
"""

import hashlib
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Final

import msgpack

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.version import check_version
from gpuprov.sources.files import prune, unwritable
from gpuprov.sources.layout import WantedFile
from gpuprov.sources.packages import stanzas_of

_FORM: Final = 2
"""Raised when the form of the file changes; older files are then built anew."""

_KEPT_INDEXES: Final = 8
_KEPT_FILES: Final = 64
_SCHEMA: Final = """
CREATE TABLE row(name TEXT NOT NULL, body BLOB NOT NULL);
CREATE TABLE provided(name TEXT NOT NULL, provider TEXT NOT NULL, PRIMARY KEY(name, provider)) WITHOUT ROWID;
"""
# The fields in which apt reads relations, in its order: the position of a name's first mention breaks its last tie.
_MENTIONING: Final = (
    "Pre-Depends",
    "Depends",
    "Conflicts",
    "Breaks",
    "Recommends",
    "Suggests",
    "Replaces",
    "Enhances",
    "Provides",
)
# A name with an architecture's qualifier is a name of its own, and no row's.
_MENTIONED: Final = re.compile(r"[,|]\s*([^\s,|(]+)")
_NAMES: Final = re.compile(r"(?:^|[,|])\s*([A-Za-z0-9][A-Za-z0-9+._-]*)(?=[\s,|(]|$)")
_KEPT_FIELDS: Final = (
    "Version",
    "Architecture",
    "Pre-Depends",
    "Depends",
    "Recommends",
    "Suggests",
    "Conflicts",
    "Breaks",
    "Provides",
    "Essential",
    "Important",
    "Priority",
    "Filename",
    "Size",
    "Installed-Size",
    "SHA256",
)
_BLANK: Final = dict.fromkeys(_KEPT_FIELDS, "")
_kept: Final = itemgetter(*_KEPT_FIELDS)


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexPart:
    """One Packages file that a source's signed Release names."""

    source: str
    rank: int
    """Position of the source."""
    pin: int
    wanted: WantedFile


@dataclass(frozen=True, kw_only=True, slots=True)
class RawRow:
    """One package version as the cache holds it."""

    name: str
    source: str
    rank: int
    pin: int
    mention: int
    """Position of the name's first mention in all the indexes."""
    fields: dict[str, str]


def find_cache(folder: Path, parts: Sequence[IndexPart]) -> sqlite3.Connection | None:
    """Open the parsed form of some index files; None when it is not there, damaged, or of another release's form."""
    path = index_path(folder, parts)
    return _try_open(path) if path.is_file() else None


def build_cache(folder: Path, parts: Sequence[IndexPart], paths: Sequence[Path]) -> sqlite3.Connection:
    """Parse index files and open the result.

    Args:
        folder: the cache.
        parts: the files.
        paths: where each of them is.

    Raises:
        GpuprovError: GP-SRC-005 (a file cannot be parsed), GP-DOC-007 (the cache cannot be written).
    """
    path = index_path(folder, parts)
    _build(path, parts, paths)
    prune(path.parent, _KEPT_INDEXES)
    prune(folder / "files", _KEPT_FILES)
    connection = _try_open(path)
    if connection is None:
        raise GpuprovError(unwritable(path, OSError("the index that was just written cannot be read")))
    return connection


def index_path(folder: Path, parts: Sequence[IndexPart]) -> Path:
    """The file that holds the parsed form of some index files: its name tells their content."""
    lines = (f"{part.source} {part.rank} {part.pin} {part.wanted.file.sha256}" for part in parts)
    name = hashlib.sha256("\n".join([str(_FORM), *lines]).encode()).hexdigest()[:40]
    return folder / "index" / f"{name}.sqlite"


def _try_open(path: Path) -> sqlite3.Connection | None:
    """Open a finished file; None when it is damaged, as after a full disk."""
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        (form,) = connection.execute("PRAGMA user_version").fetchone()
        os.utime(path)
    except (sqlite3.DatabaseError, OSError):
        return None
    if form != _FORM:
        connection.close()
        return None
    return connection


def _build(path: Path, parts: Sequence[IndexPart], paths: Sequence[Path]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        os.close(handle)
        try:
            _fill(Path(name), parts, paths)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise GpuprovError(unwritable(path, error)) from error


def _fill(path: Path, parts: Sequence[IndexPart], paths: Sequence[Path]) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        # Nothing to protect: the file only gets its name when it is whole.
        connection.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {_SCHEMA} BEGIN;")
        mentions: dict[str, int] = {}
        provided: dict[tuple[str, str], None] = {}
        files = zip(parts, paths, strict=True)
        rows = (row for part, read in files for row in _rows(part, read, mentions, provided))
        connection.executemany("INSERT INTO row VALUES(?, ?)", rows)
        connection.executemany("INSERT INTO provided VALUES(?, ?)", sorted(provided))
        connection.execute("COMMIT")
        connection.execute("CREATE INDEX by_name ON row(name)")
        connection.execute(f"PRAGMA user_version={_FORM}")
    finally:
        connection.close()


def _rows(
    part: IndexPart, path: Path, mentions: dict[str, int], provided: dict[tuple[str, str], None]
) -> Iterator[tuple[str, bytes]]:
    for fields in stanzas_of(path, part.wanted.suffix, part.source):
        name = fields["Package"]
        try:
            check_version(fields["Version"])
        except ValueError as error:
            raise GpuprovError(_broken(part.source, name, str(error))) from error
        relations = [fields[field] for field in _MENTIONING if field in fields]
        found = [name, *_MENTIONED.findall("," + ",".join(relations))]
        if not all(map(mentions.__contains__, found)):  # nearly always all are known
            for mentioned in found:
                mentions.setdefault(mentioned, len(mentions))
        if "Provides" in fields:
            for other in _NAMES.findall(fields["Provides"]):
                if other != name:
                    provided[other, name] = None
        # A name is mentioned by its own stanza at the latest, so its position is already known here.
        yield name, msgpack.packb([part.source, part.rank, part.pin, mentions[name], *_kept(_BLANK | fields)])


def read_rows(connection: sqlite3.Connection, name: str) -> list[RawRow]:
    """All versions of a package."""
    found = []
    for (body,) in connection.execute("SELECT body FROM row WHERE name = ?", (name,)):
        source, rank, pin, mention, *values = msgpack.unpackb(body)
        fields = dict(zip(_KEPT_FIELDS, values, strict=True))
        found.append(RawRow(name=name, source=source, rank=rank, pin=pin, mention=mention, fields=fields))
    return found


def _broken(source: str, name: str, what: str) -> Diagnostic:
    return Diagnostic(
        code="GP-SRC-005",
        address=f"sources.{source}",
        summary=f"source {source} has a broken stanza of {name}: {what}",
        hint="Tell the repository's owner.",
    )
