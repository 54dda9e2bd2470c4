"""Tiny indexes from rows of data."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from gpuprov.lock.index import MemoryIndex, Stanza
from gpuprov.model.package import PackageRow
from gpuprov.sources.packages import parse_groups, parse_relations

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


def _stanza(source: str, rank: int, row: Mapping[str, Any]) -> Stanza:
    name, _, version = str(row["is"]).partition(" ")
    return Stanza(
        row=PackageRow(
            name=name,
            version=version,
            arch="amd64",
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
        priority=str(row.get("priority", "optional")),
    )


@pytest.fixture
def index_of() -> Callable[[Rows], MemoryIndex]:
    """Make an Index: for each source a list of rows such as `{is: "libc6 2.36-9", depends: "libgcc-s1"}`."""

    def make(rows: Rows) -> MemoryIndex:
        return MemoryIndex.of([_stanza(source, rank, row) for rank, source in enumerate(rows) for row in rows[source]])

    return make
