"""Reading Packages files: a stream of stanzas, compressed or not, as raw fields; and dependency fields as values."""

import gzip
import lzma
import re
import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import IO, Final, cast

from gpuprov.lock.index import Group, Relation
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.version import check_version

FIELDS: Final = (
    "Package",
    "Version",
    "Architecture",
    "Pre-Depends",
    "Depends",
    "Conflicts",
    "Breaks",
    "Recommends",
    "Suggests",
    "Replaces",
    "Enhances",
    "Provides",
    "Essential",
    "Important",
    "Priority",
    "Filename",
    "Size",
    "Installed-Size",
    "SHA256",
)
"""What is read of a stanza; from Pre-Depends to Provides in the order in which apt reads them."""

_CHUNK: Final = 1 << 20
_REQUIRED: Final = frozenset({"Package", "Version", "Filename"})
_CANONICAL: Final = {name.lower(): name for name in FIELDS}
# Continuation lines begin with a blank; `[ \t]*` and not `\s*`, or an empty field would take the next line.
# A line break and not `^`, so that a search can skip from line to line: a third less time.
_PATTERN: Final = r"\n(" + "|".join(sorted(FIELDS, key=len, reverse=True)) + r"):[ \t]*(.*(?:\n[ \t].*)*)"
_FIELD: Final = re.compile(_PATTERN)
_ANY_CASE: Final = re.compile(_PATTERN, re.IGNORECASE)
_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9+._-]*"
_RELATION: Final = re.compile(
    rf"\s*(?P<name>{_NAME})(?::(?P<qualifier>[a-z0-9-]+))?\s*"
    r"(?:\(\s*(?P<relation>>=|<=|>>|<<|=|>|<)\s*(?P<version>[A-Za-z0-9.+~:-]+)\s*\))?\s*(?:\[[^\]]*\])?\s*"
)


def stanzas_of(path: Path, suffix: str, source: str) -> Iterator[dict[str, str]]:
    """Yield the fields of every stanza of a Packages file.

    Args:
        path: the file in the cache (its name says nothing).
        suffix: `.xz`, `.gz` or empty.
        source: name for messages.

    Raises:
        GpuprovError: GP-SRC-005 for a damaged file, or a stanza without Package, Version or Filename.
    """
    try:
        with _open(path, suffix) as stream:
            for number, text in enumerate(_blocks(stream), 1):
                fields = dict(_FIELD.findall(text))
                if not fields.keys() >= _REQUIRED:  # names of fields may be written in any case, and never are
                    fields = {_CANONICAL[name.lower()]: value for name, value in _ANY_CASE.findall(text)}
                if not fields.keys() >= _REQUIRED:
                    raise GpuprovError(_broken(source, f"stanza {number} lacks Package, Version or Filename"))
                yield fields
    except (lzma.LZMAError, zlib.error, EOFError, OSError, UnicodeDecodeError) as error:
        raise GpuprovError(_broken(source, str(error))) from error


def _open(path: Path, suffix: str) -> IO[bytes]:
    match suffix:
        case ".xz":
            return lzma.open(path, "rb")
        case ".gz":
            return cast("IO[bytes]", gzip.open(path, "rb"))
        case _:
            return path.open("rb")


def _blocks(stream: IO[bytes]) -> Iterator[str]:
    """Every stanza, after a line break."""
    rest = b""
    while chunk := stream.read(_CHUNK):
        *whole, rest = (rest + chunk).split(b"\n\n")
        for block in whole:
            if block and not block.isspace():
                yield "\n" + block.decode("utf-8")
    if rest.strip():
        yield "\n" + rest.decode("utf-8")


@lru_cache(maxsize=1 << 14)
def parse_groups(text: str, arch: str) -> tuple[Group, ...]:
    """Read a dependency field: groups of alternatives. Raises ValueError for text that is none."""
    return tuple(
        tuple(_relation(part, arch) for part in group.split("|")) for group in text.split(",") if group.strip()
    )


def parse_relations(text: str, arch: str) -> tuple[Relation, ...]:
    """Read a field without alternatives: Conflicts, Breaks, Provides. Raises ValueError for text that is none."""
    return tuple(relation for group in parse_groups(text, arch) for relation in group)


def _relation(text: str, arch: str) -> Relation:
    found = _RELATION.fullmatch(text)
    if found is None:
        raise ValueError(f"'{text.strip()}' is no dependency")
    name, qualifier = found["name"], found["qualifier"]
    if qualifier and qualifier not in {"any", "native", "all", arch}:
        name = f"{name}:{qualifier}"  # another architecture: nothing in this index answers it
    if found["version"]:
        check_version(found["version"])
    relation = {">": ">=", "<": "<="}.get(found["relation"] or "", found["relation"] or "")
    return Relation(name, relation, found["version"] or "")


def _broken(source: str, what: str) -> Diagnostic:
    return Diagnostic(
        code="GP-SRC-005",
        address=f"sources.{source}",
        summary=f"a Packages file of source {source} cannot be read: {what}",
        hint="The file has the signed digest, so the repository itself is damaged: tell its owner.",
    )
