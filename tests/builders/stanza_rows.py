"""Small archives from rows such as `{is: "libc6 2.36-9", depends: "libgcc-s1"}`: as an Index, and as apt reads them."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpuprov.lock.index import MemoryIndex, Stanza
from gpuprov.model.package import PackageRow
from gpuprov.sources.packages import parse_groups, parse_relations

Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]
"""Rows of each source, the sources in order."""

LOW = 100
"""apt's priority of backports."""
_RELATIONS = ("pre_depends", "depends", "recommends", "suggests", "conflicts", "provides")


def stanza_of(source: str, rank: int, row: Row) -> Stanza:
    """One row as the resolver reads it."""
    name, _, version = str(row["is"]).partition(" ")
    return Stanza(
        row=PackageRow(
            name=name,
            version=version,
            arch=str(row.get("arch", "amd64")),
            source=source,
            sha256=str(row.get("sha256", f"{name}-{version}")),
            size=1,
            filename=f"{name}.deb",
        ),
        pin=int(row.get("pin", 500)),
        rank=rank,
        pre_depends=parse_groups(row.get("pre_depends", ""), "amd64"),
        depends=parse_groups(row.get("depends", ""), "amd64"),
        recommends=parse_groups(row.get("recommends", ""), "amd64"),
        suggests=parse_groups(row.get("suggests", ""), "amd64"),
        conflicts=parse_relations(row.get("conflicts", ""), "amd64"),
        provides=parse_relations(row.get("provides", ""), "amd64"),
        essential=bool(row.get("essential", False)),
        important=bool(row.get("important", False)),
        priority=str(row.get("priority", "optional")),
    )


def index_of(rows: Rows) -> MemoryIndex:
    """An Index over rows."""
    return MemoryIndex.of([stanza_of(source, rank, row) for rank, source in enumerate(rows) for row in rows[source]])


def prefixed(prefix: str, row: Row) -> Row:
    """A row with a prefix before every name, so that one archive can hold the rows of many cases."""
    changed = {field: _prefixed(prefix, row[field]) for field in _RELATIONS if field in row}
    return {**row, **changed, "is": prefix + row["is"]}


def _prefixed(prefix: str, text: str) -> str:
    groups = [[prefix + name.strip() for name in group.split("|")] for group in text.split(",")]
    return ", ".join(" | ".join(group) for group in groups)


def publish(rows: Rows, folder: Path) -> list[str]:
    """Write an unsigned flat repository for each source, and give apt's entries for them, in order."""
    entries = []
    for source, members in rows.items():
        root = folder / source
        root.mkdir(parents=True)
        (root / "Packages").write_text("\n".join(map(stanza_text, members)), encoding="utf-8")
        low = any(int(row.get("pin", 500)) == LOW for row in members)
        head = "NotAutomatic: yes\nButAutomaticUpgrades: yes\n" if low else ""
        (root / "Release").write_text(f"Suite: {source}\n{head}", encoding="utf-8")
        entries.append(f"Types: deb\nURIs: {root.as_uri()}\nSuites: ./\nTrusted: yes\n")
    return entries


def stanza_text(row: Row) -> str:
    """One row as a stanza of a Packages file."""
    name, version = str(row["is"]).split()
    fields = {"Package": name, "Version": version, "Architecture": row.get("arch", "amd64"), "Maintainer": "test"}
    fields["Priority"] = row.get("priority", "optional")
    fields |= {name.title(): "yes" for name in ("essential", "important") if row.get(name)}
    fields |= {"Multi-Arch": row["multi_arch"]} if "multi_arch" in row else {}
    fields |= {name.replace("_", "-").title(): row[name] for name in _RELATIONS if name in row}
    digest = row.get("sha256") or hashlib.sha256(f"{name} {version}".encode()).hexdigest()
    fields |= {"Filename": f"./{name}_{version}.deb", "Size": "1", "SHA256": digest}
    return "".join(f"{key}: {value}\n" for key, value in fields.items())
