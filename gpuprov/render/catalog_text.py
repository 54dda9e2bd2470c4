"""The catalog for people and programs: tables, rows with what is unknown said so, and the sources."""

from collections.abc import Sequence
from typing import Any, Final

from rich.text import Text

from gpuprov.catalog.load import OWN, Table, speaking
from gpuprov.catalog.rows import Row
from gpuprov.catalog.view import Shown, TableCount, known_fields, sources_of
from gpuprov.model.diagnostic import Diagnostic, status_of
from gpuprov.render.json_text import diagnostics_body
from gpuprov.render.terminal import Terminal

_COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "architectures": ("min_driver", "max_branch", "flavour"),
    "branches": ("type", "status", "end_of_support", "max_cuda", "latest"),
    "companions": ("patterns", "equal", "fabrics"),
    "components": ("patterns",),
    "container_toolkits": ("date",),
    "dcgm": ("versions", "verdict", "reason"),
    "efa_layouts": ("interfaces",),
    "engines": ("toolkit", "min_version"),
    "frameworks": ("cuda", "min_driver", "variants"),
    "gpus": ("architecture", "memory_gb", "fabric", "mig_instances", "min_driver"),
    "images": ("owner", "name"),
    "instances": ("gpus", "gpu", "vcpus", "memory_mib", "arch"),
    "libraries": ("packages",),
    "never": ("pattern", "use"),
    "ngc": ("cuda", "driver"),
    "packages": ("part", "origin", "min_branch", "max_branch", "packages"),
    "prices": ("usd_hour", "region", "since"),
    "rates": ("usd", "unit", "region", "since"),
    "quotas": ("code", "unit", "name"),
    "repositories": ("source", "key_file", "url"),
    "retired": ("pattern", "reason"),
    "services": ("packages",),
    "systems": ("built", "repository", "kernel", "gcc", "guides"),
    "toolkits": ("min_driver", "bundled_driver", "max_gcc"),
    "variants": ("cuda", "min_driver", "branch"),
    "xids": ("severity", "action", "meaning"),
}
"""The columns of each table in its list; everything of a row is shown when it is asked for by name."""
_UNKNOWN: Final = "?"
_NOTHING: Final = "-"
_WIDEST: Final = 60


def show_rows(shown: Shown, terminal: Terminal) -> None:
    """Print the tables, the rows of one, or all that is known of some."""
    if shown.table is None:
        _tables(shown.tables, terminal)
        return
    if shown.whole:
        for index, row in enumerate(shown.rows):
            if index:
                terminal.out.print()
            _row(shown.kind, row, shown.table, terminal)
        return
    _list(shown.kind, shown.rows, terminal)
    if any(row.unverified for row in shown.rows):
        terminal.out.print(Text(f"{_UNKNOWN}: no source that was seen says it", style="quiet"))


def show_sound(tables: Sequence[TableCount], terminal: Terminal) -> None:
    """Print one line on a catalog that is sound."""
    rows, own, unknown = (sum(getattr(t, name) for t in tables) for name in ("rows", "own", "unknown"))
    mine = f", {own} of them your own" if own else ""
    terminal.out.print(f"sound: {len(tables)} tables, {rows} rows{mine}; {unknown} fields are unknown")


def catalog_body(shown: Shown) -> dict[str, object]:
    """What `catalog show --json` prints; a field without a source is null and named in `unverified`."""
    if shown.table is None:
        return {"tables": _counts(shown.tables)}
    table = shown.table
    return {"kind": shown.kind, "about": table.about, "rows": [_body(row, table) for row in shown.rows]}


def tables_body(tables: Sequence[TableCount], diagnostics: Sequence[Diagnostic]) -> dict[str, object]:
    """What `catalog verify --json` prints."""
    return {
        "status": int(status_of(diagnostics)),
        "tables": _counts(tables),
        "diagnostics": diagnostics_body(diagnostics),
    }


def _counts(tables: Sequence[TableCount]) -> list[dict[str, object]]:
    return [{"name": t.name, "rows": t.rows, "own": t.own, "unknown": t.unknown, "about": t.about} for t in tables]


def _body(row: Row, table: Table) -> dict[str, object]:
    values = {name: list(value) if isinstance(value, tuple) else value for name, value, _ in known_fields(row)}
    sources = [
        {"id": key, "title": source.title, "url": source.url, "as_of": source.as_of}
        for key, source in sources_of(row, table)
    ]
    return {"id": row.id, **values, "unverified": list(row.unverified), "note": row.note, "sources": sources}


def _tables(tables: Sequence[TableCount], terminal: Terminal) -> None:
    width = max(len(table.name) for table in tables)
    for table in tables:
        first = table.about.partition(". ")[0].rstrip(".")
        own = f" ({table.own} your own)" if table.own else ""
        terminal.out.print(Text.assemble((f"{table.name:<{width}}", "name"), f"  {table.rows:>4}{own}  {first}"))


def _list(kind: str, rows: Sequence[Row], terminal: Terminal) -> None:
    columns = _COLUMNS[kind]
    lines = [["", *columns], *([row.id, *(_cell(row, column) for column in columns)] for row in rows)]
    widths = [min(_WIDEST, max(len(line[i]) for line in lines)) for i in range(len(columns))]
    for number, line in enumerate(lines):
        cells = [f"{cell:<{width}}" for cell, width in zip(line, widths, strict=False)] + [line[-1]]
        own = number and any(key.startswith(OWN) for key in rows[number - 1].sources)
        styled = Text("  ".join(cells).rstrip(), style="" if number else "quiet")
        if own:
            styled.append("  (your own)", style="note")
        terminal.out.print(styled)


def _row(kind: str, row: Row, table: Table, terminal: Terminal) -> None:
    out = terminal.out
    out.print(Text.assemble((row.id, "name"), (f"  {kind}", "quiet")))
    width = max(len(name) for name, _, _ in known_fields(row))
    for name, value, known in known_fields(row):
        shown = _shown(value) if known else "unknown: no source that was seen says it"
        line = Text(f"  {name:<{width}}  ")
        line.append(shown, style="" if known else "warning")
        backed = speaking(row, name, table)
        if backed and known and shown != _NOTHING:
            line.append(f"  [{', '.join(backed)}]", style="quiet")
        out.print(line)
    if row.note:
        out.print(f"  note: {row.note}")
    out.print("  sources:")
    for key, source in sources_of(row, table):
        out.print(Text.assemble(f"    {key}: {source.title}, {source.as_of}", (f"  {source.url}", "quiet")))


def _cell(row: Row, column: str) -> str:
    text = _shown(getattr(row, column)) if row.knows(column) else _UNKNOWN
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ((), ""):
        return _NOTHING
    return ", ".join(value) if isinstance(value, tuple) else str(value)
