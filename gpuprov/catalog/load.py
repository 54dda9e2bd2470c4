"""Reading the catalog's files into rows; a row that does not fit its type is refused with its place."""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

from gpuprov.catalog.rows import (
    ArchitectureRow,
    BranchRow,
    ComponentRow,
    DcgmRow,
    GpuRow,
    ImageRow,
    InstanceRow,
    NeverRow,
    PackagesRow,
    RepositoryRow,
    RetiredRow,
    Row,
    ServiceRow,
    SystemRow,
    ToolkitRow,
)
from gpuprov.catalog.rows_cloud import EfaLayoutRow, PriceRow, QuotaRow, RateRow
from gpuprov.catalog.rows_stack import (
    CompanionRow,
    ContainerToolkitRow,
    EngineRow,
    FrameworkRow,
    LibraryRow,
    NgcRow,
    VariantRow,
    XidRow,
)
from gpuprov.document.shape import Fields
from gpuprov.model.diagnostic import Diagnostic, GpuprovError

R = TypeVar("R", bound=Row)

# Not importlib.resources: it imports zipfile and more, a tenth of what `validate` takes.
_DATA: Final = Path(__file__).with_name("data")

FILES: Final[dict[str, type[Row]]] = {
    "gpus": GpuRow,
    "architectures": ArchitectureRow,
    "branches": BranchRow,
    "toolkits": ToolkitRow,
    "systems": SystemRow,
    "repositories": RepositoryRow,
    "packages": PackagesRow,
    "never": NeverRow,
    "services": ServiceRow,
    "components": ComponentRow,
    "dcgm": DcgmRow,
    "instances": InstanceRow,
    "retired": RetiredRow,
    "images": ImageRow,
    "companions": CompanionRow,
    "container_toolkits": ContainerToolkitRow,
    "engines": EngineRow,
    "frameworks": FrameworkRow,
    "variants": VariantRow,
    "ngc": NgcRow,
    "libraries": LibraryRow,
    "xids": XidRow,
    "prices": PriceRow,
    "rates": RateRow,
    "quotas": QuotaRow,
    "efa_layouts": EfaLayoutRow,
}
"""Name of each file of data/ and the type of its rows."""


OWN: Final = "own/"
"""Stands before the ids of a user's own sources, so that they never meet the packaged ones."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceRow:
    """Where rows of a file come from."""

    title: str
    url: str
    as_of: str
    """Date, or year and month, of what was seen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """One file of the catalog."""

    as_of: str
    sources: dict[str, SourceRow]
    rows: tuple[Row, ...]
    backing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Fields that only some of the sources speak of: field to ids."""
    written: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Of rows of the user's: id to the fields that they write themselves."""
    about: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Catalog:
    """The rows in force: the packaged ones, and over them the tables that hold a user's own rows."""

    own: Mapping[str, Table] = field(default_factory=dict)
    """By name of the file; each is whole, the packaged rows included."""

    def table(self, name: str) -> Table:
        """One table by the name of its file."""
        return self.own[name] if name in self.own else table(name)


PACKAGED: Final = Catalog()
"""The catalog as gpuprov ships it."""


@cache
def table(name: str) -> Table:
    """A file of the packaged catalog, read once."""
    text = (_DATA / f"{name}.json").read_text("utf-8")
    return read_table(text, f"catalog/data/{name}.json", FILES[name])


def rows(cls: type[R], catalog: Catalog = PACKAGED) -> tuple[R, ...]:
    """All rows of one type."""
    name = next(name for name, kind in FILES.items() if kind is cls)
    return tuple(row for row in catalog.table(name).rows if isinstance(row, cls))


def cite(row: Row, field: str = "", catalog: Catalog = PACKAGED) -> str:
    """Where a row, or one field of it, comes from: title and date of its sources."""
    name = next(name for name, kind in FILES.items() if isinstance(row, kind))
    found = catalog.table(name)
    keys = speaking(row, field, found) or row.sources
    return "; ".join(f"{found.sources[key].title}, {found.sources[key].as_of}" for key in keys)


def speaking(row: Row, field: str, table: Table) -> tuple[str, ...]:
    """Ids of the sources that speak of a field of a row; none where the table does not tell.

    A field that the user's own row writes has the user's sources, and no other field has them.
    """
    if row.id in table.written:
        mine = field in table.written[row.id]
        keys = tuple(key for key in row.sources if key.startswith(OWN) == mine)
        if mine:
            return keys
    else:
        keys = row.sources
    return tuple(key for key in keys if key in table.backing.get(field, ()))


def read_table(text: str, file: str, cls: type[Row]) -> Table:
    """Read the text of a catalog file.

    Raises:
        GpuprovError: GP-CAT-001 for a file or a row that does not fit, with its address.
    """
    try:
        top = Fields(json.loads(text), file)
        sources = {name: read_source(row) for name, row in top.table("sources").items()}
        found = tuple(read_row(cls, row, sources) for row in top.rows("rows"))
        as_of = top.text("as_of")
        backed = top.fields("fields") if top.has("fields") else Fields({}, file)
        backing = {key: backed.texts(key) for key in backed.value}
    except json.JSONDecodeError as error:
        raise GpuprovError(_broken(file, "", str(error))) from error
    except GpuprovError as error:
        raise GpuprovError(*(_broken(file, d.address, d.summary) for d in error.diagnostics)) from error
    ids = [row.id for row in found]
    twice = sorted({row_id for row_id in ids if ids.count(row_id) > 1})
    if twice:
        raise GpuprovError(_broken(file, "rows", f"the id {twice[0]} occurs twice"))
    about = top.text("about") if top.has("about") else ""
    return Table(as_of=as_of, sources=sources, rows=found, backing=backing, about=about)


def read_source(row: Fields) -> SourceRow:
    """Read one source of a file; GP-DOC-008 where it lacks a field."""
    return SourceRow(title=row.text("title"), url=row.text("url"), as_of=row.text("as_of"))


def read_row(cls: type[R], row: Fields, sources: Mapping[str, SourceRow]) -> R:
    """Read one row of a file; GP-DOC-008 where it does not fit its type."""
    known = {f.name: f for f in fields(cls)}
    for key in row.value:
        if key not in known:
            row.refuse(key, f"{cls.__name__} has no field {key}")
    values = {name: _value(f.type, row, name) for name, f in known.items() if row.has(name) or f.default is MISSING}
    for name in values.get("unverified", ()):
        if name not in known:
            row.refuse("unverified", f"{cls.__name__} has no field {name}")
        # What no source backs is unknown, whatever stands there.
        values[name] = () if isinstance(values[name], tuple) else None
    if not values["sources"] or not set(values["sources"]) <= set(sources):
        row.refuse("sources", "each row names at least one of the file's sources")
    return cls(**values)


def _value(hint: Any, row: Fields, name: str) -> Any:
    optional, read = _reading(hint)
    return None if optional and row.raw(name) is None else read(row, name)


@cache
def _reading(hint: Any) -> tuple[bool, Callable[[Fields, str], Any]]:
    """Whether a field may be null, and what reads it otherwise; worked out once a type, for thousands of fields."""
    if hint == tuple[str, ...]:
        return False, Fields.texts
    kinds = get_args(hint) or (hint,)
    by_kind: dict[type, Callable[[Fields, str], Any]] = {
        bool: Fields.flag,
        float: Fields.number,
        int: Fields.integer,
    }
    return type(None) in kinds, next((read for kind, read in by_kind.items() if kind in kinds), Fields.text)


def _broken(file: str, address: str, what: str) -> Diagnostic:
    return Diagnostic(
        code="GP-CAT-001",
        summary=f"{file}: {what}",
        address=address,
        hint="repair the catalog's file, or install gpuprov again",
    )
