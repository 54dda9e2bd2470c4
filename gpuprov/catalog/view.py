"""The catalog as it is looked at: its tables, rows by any of their names, and what backs each field."""

from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, Final

from gpuprov.catalog.load import FILES, OWN, Catalog, SourceRow, Table
from gpuprov.catalog.rows import Row
from gpuprov.model.diagnostic import Diagnostic, GpuprovError

_NAMES: Final = ("nvml_names", "pci_ids", "codename", "release", "version", "project", "instance", "family", "code")
"""Fields by which a row is found as well as by its id."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TableCount:
    """One table, for the list of all."""

    name: str
    rows: int
    own: int
    """Rows of the user's among them."""
    unknown: int
    """Fields that no source backs, over all rows."""
    about: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """What was asked for."""

    kind: str
    """Name of the table; empty for the list of all tables."""
    table: Table | None
    rows: tuple[Row, ...]
    whole: bool
    """Whether rows were asked for by name, so that everything of them is shown."""
    tables: tuple[TableCount, ...]


def show(catalog: Catalog, kind: str, name: str) -> Shown:
    """Find a table, or rows of one.

    Args:
        catalog: the rows in force.
        kind: name of a table or the beginning of one; empty for all tables.
        name: id of a row, or another of its names; empty for all rows.

    Raises:
        GpuprovError: GP-CAT-004 when there is no such table or row.
    """
    if not kind:
        return Shown(kind="", table=None, rows=(), whole=False, tables=counts(catalog))
    table_name = _table_name(kind)
    table = catalog.table(table_name)
    rows = table.rows if not name else _named(table, table_name, name)
    return Shown(kind=table_name, table=table, rows=rows, whole=bool(name), tables=())


def sources_of(row: Row, table: Table) -> tuple[tuple[str, SourceRow], ...]:
    """The sources of a row, in its order."""
    return tuple((key, table.sources[key]) for key in row.sources)


def known_fields(row: Row) -> tuple[tuple[str, Any, bool], ...]:
    """The fields of a row beside its id and sources: name, value, and whether a source backs it."""
    hidden = {"id", "sources", "unverified", "note"}
    return tuple((f.name, getattr(row, f.name), row.knows(f.name)) for f in fields(row) if f.name not in hidden)


def counts(catalog: Catalog) -> tuple[TableCount, ...]:
    """How many rows each table has, by name."""
    found = []
    for name in sorted(FILES):
        table = catalog.table(name)
        found.append(
            TableCount(
                name=name,
                rows=len(table.rows),
                own=sum(any(key.startswith(OWN) for key in row.sources) for row in table.rows),
                unknown=sum(len(row.unverified) for row in table.rows),
                about=table.about,
            )
        )
    return tuple(found)


def _table_name(kind: str) -> str:
    if kind in FILES:
        return kind
    begun = [name for name in FILES if name.startswith(kind)]
    if len(begun) == 1:
        return begun[0]
    near = get_close_matches(kind, FILES, n=1)
    raise GpuprovError(
        Diagnostic(
            code="GP-CAT-004",
            summary=f"the catalog has no table {kind}" if not begun else f"{kind} begins several tables' names",
            address=kind,
            detail=f"Tables: {', '.join(sorted(begun or FILES))}.",
            hint=f"did you mean {near[0]}?" if near and not begun else "",
        )
    )


def _named(table: Table, kind: str, name: str) -> tuple[Row, ...]:
    """The row of that id; else all rows that have it as another name."""
    by_id = tuple(row for row in table.rows if row.id.lower() == name.lower())
    if by_id:
        return by_id
    found = tuple(row for row in table.rows if name.lower() in _other_names(row))
    if found:
        return found
    near = get_close_matches(name, [row.id for row in table.rows], n=3, cutoff=0.5)
    raise GpuprovError(
        Diagnostic(
            code="GP-CAT-004",
            summary=f"the table {kind} has no row {name}",
            address=f"{kind}.{name}",
            hint=f"did you mean {' or '.join(near)}?" if near else f"`gpuprov catalog show {kind}` lists its rows",
        )
    )


def _other_names(row: Row) -> set[str]:
    found: set[str] = set()
    for field in _NAMES:
        value = getattr(row, field, ())
        found |= {text.lower() for text in ((value,) if isinstance(value, str) else value or ())}
    return found
