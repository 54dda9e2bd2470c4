"""A user's own rows: files named like the packaged ones, whose rows count before them."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any, Final

from gpuprov.catalog.load import FILES, OWN, PACKAGED, Catalog, SourceRow, Table, read_row, read_source
from gpuprov.catalog.rows import Row
from gpuprov.catalog.verify import problems
from gpuprov.document.node import MappingNode, Node, Scalar, SequenceNode
from gpuprov.document.shape import Fields
from gpuprov.document.yaml_text import parse_yaml
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity, Span

_FIXED: Final = ("components", "images")
"""Tables that are also asked where there is no spec; own rows of them would count only here and there."""
_KEYS: Final = ("about", "as_of", "sources", "rows")
_LAST_DAY: Final = {4: "-12-31", 7: "-31"}
"""What makes a year or a month a date, by the length of its text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnRows:
    """What came of a folder of own rows."""

    catalog: Catalog
    notes: tuple[Diagnostic, ...]
    """GP-CAT-003 for each file: which rows are new, and what the others override."""


def read_own(files: Mapping[str, str]) -> OwnRows:
    """Read a user's files over the packaged catalog.

    Args:
        files: path to text; the name of each file says which table it belongs to.

    Raises:
        GpuprovError: GP-CAT-001 for a file or row that does not fit, GP-DOC codes for text that is no YAML: all of
            them at once, each with its line.
    """
    own: dict[str, Table] = {}
    paths: dict[str, str] = {}
    notes: list[Diagnostic] = []
    wrong: list[Diagnostic] = []
    for path, text in sorted(files.items()):
        try:
            name = _table_of(path, paths)
            own[name], note = _File(path, name, text).read()
            notes.append(note)
        except GpuprovError as error:
            wrong += error.diagnostics
    catalog = Catalog(own)
    if not wrong:
        wrong = [_refused(_start(paths.get(p.partition(":")[0], "")), "", p) for p in problems(catalog)]
    if wrong:
        raise GpuprovError(*wrong)
    return OwnRows(catalog=catalog, notes=tuple(notes))


class _File:
    """One file of own rows while it is read."""

    def __init__(self, path: str, name: str, text: str) -> None:
        self.path, self.name = path, name
        self.spans: dict[str, Span] = {}
        self.top: Any = self._plain(parse_yaml(text, path), "")
        self.wrong: list[Diagnostic] = []

    def read(self) -> tuple[Table, Diagnostic]:
        """The packaged table with the file's rows in it, and the note on what they change."""
        packaged = PACKAGED.table(self.name)
        before = {row.id: row for row in packaged.rows}
        try:
            top = Fields(self.top, self.path)
            for key in top.value:
                if key not in _KEYS:
                    self._refuse(key, f"a file of the catalog has no key {key}; it has {', '.join(_KEYS)}")
            sources = {f"{OWN}{key}": read_source(row) for key, row in top.table("sources").items()}
            written = top.rows("rows")
        except GpuprovError as error:
            raise GpuprovError(*self.wrong, *(self._placed(d) for d in error.diagnostics)) from error
        everything = {**packaged.sources, **sources}
        mine: dict[str, Row] = {}
        for row in written:
            self._row(row, before, everything, mine)
        fields = {str(row.value.get("id")): frozenset(row.value) for row in written}
        if self.wrong:
            raise GpuprovError(*self.wrong)
        rows = (*(mine.get(row.id, row) for row in packaged.rows), *(r for r in mine.values() if r.id not in before))
        dates = [f"{s.as_of}{_LAST_DAY.get(len(s.as_of), '')}" for s in sources.values() if s.as_of[:1].isdigit()]
        table = Table(
            as_of=max([packaged.as_of, *dates]),
            sources=everything,
            rows=rows,
            backing=packaged.backing,
            written=fields,
            about=packaged.about,
        )
        return table, self._note(mine, before)

    def _row(
        self, row: Fields, before: Mapping[str, Row], sources: Mapping[str, SourceRow], mine: dict[str, Row]
    ) -> None:
        """Read one row into `mine`: over the packaged row of the same id, field by field."""
        try:
            row_id, named = row.text("id"), row.texts("sources")
            if row_id in mine:
                row.refuse("id", f"the id {row_id} occurs twice")
            base = before.get(row_id)
            value = {**row.value, "sources": [f"{OWN}{key}" for key in named]}
            if not named:
                row.refuse("sources", "each row names at least one of the file's sources")
            for key in named:
                if f"{OWN}{key}" not in sources:
                    row.refuse("sources", f"the file has no source {key}")
            if base is not None:
                value = _over(base, value)
            mine[row_id] = read_row(FILES[self.name], Fields(value, self.path, row.path), sources)
        except GpuprovError as error:
            self.wrong += (self._placed(d) for d in error.diagnostics)

    def _note(self, mine: Mapping[str, Row], before: Mapping[str, Row]) -> Diagnostic:
        lines = [
            f"{row.id} overrides: {_changes(before[row.id], row)}" if row.id in before else f"{row.id} is new"
            for row in mine.values()
        ]
        return Diagnostic(
            code="GP-CAT-003",
            summary=f"{len(mine)} row(s) of the table {self.name} are your own",
            address="catalog",
            detail="\n".join(lines),
            span=_start(self.path),
            severity=Severity.NOTE,
        )

    def _plain(self, node: Node, at: str) -> Any:
        """A node as plain values; the place of every address is kept."""
        self.spans[at] = node.span
        if isinstance(node, MappingNode):
            found = {e.key.text: self._plain(e.value, f"{at}.{e.key.text}" if at else e.key.text) for e in node.entries}
            self.spans |= {
                f"{at}.{e.key.text}" if at else e.key.text: e.key.span
                for e in node.entries
                if not isinstance(e.value, Scalar)
            }
            return found
        if isinstance(node, SequenceNode):
            return [self._plain(item, f"{at}[{index}]") for index, item in enumerate(node.items)]
        return _value(node)

    def _refuse(self, address: str, what: str) -> None:
        self.wrong.append(_refused(self.spans.get(address, _start(self.path)), f"{self.name}.{address}", what))

    def _placed(self, problem: Diagnostic) -> Diagnostic:
        address = problem.address
        while address and address not in self.spans:
            address = re.sub(r"(\.?[^.\[]+|\[[^\]]*\])$", "", address)
        span = self.spans.get(address, _start(self.path))
        return _refused(span, f"{self.name}.{problem.address}".rstrip("."), problem.summary)


def _table_of(path: str, paths: dict[str, str]) -> str:
    """The table that a file belongs to; it is noted in `paths`."""
    name = PurePath(path).stem
    if name not in FILES:
        near = get_close_matches(name, FILES, n=1)
        hint = f"did you mean {near[0]}?" if near else "name the file after a table"
        what = f"the catalog has no table {name}; it has {', '.join(sorted(set(FILES) - set(_FIXED)))}"
        raise GpuprovError(_refused(_start(path), PurePath(path).name, what, hint))
    if name in _FIXED:
        raise GpuprovError(_refused(_start(path), name, f"the table {name} takes no rows of your own"))
    first = paths.setdefault(name, path)
    if first != path:
        raise GpuprovError(_refused(_start(path), name, f"the table {name} has a second file; the first is {first}"))
    return name


def _over(base: Row, written: Mapping[str, Any]) -> dict[str, Any]:
    """A written row over a packaged one: what it leaves out stays, with the sources of both."""
    kept = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(base).items()}
    unverified = [name for name in base.unverified if name not in written]
    return {
        **kept,
        **written,
        "sources": [*written["sources"], *base.sources],
        "unverified": [*unverified, *written.get("unverified", ())],
    }


def _changes(base: Row, row: Row) -> str:
    old, new = asdict(base), asdict(row)
    fields = [key for key in new if key not in {"sources", "unverified"} and new[key] != old[key]]
    known = [key for key in base.unverified if row.knows(key) and key not in fields]
    shown = [f"{key}: {_shown(old[key])} -> {_shown(new[key])}" for key in fields]
    return ", ".join([*shown, *(f"{key}: unknown -> {_shown(new[key])}" for key in known)]) or "nothing"


def _shown(value: Any) -> str:
    if value is None or value == ():
        return "unknown" if value is None else "none"
    return " ".join(value) if isinstance(value, tuple) else str(value)


def _value(node: Scalar) -> Any:
    """A scalar by what YAML takes it for; dates stay text, and what is no number, truth value or null is text."""
    if node.tag == "null":
        return None
    if node.tag == "bool":
        return node.text.lower() in {"true", "yes", "on"}
    if node.tag in {"int", "float"}:
        try:
            return int(node.text) if node.tag == "int" else float(node.text)
        except ValueError:  # 0x1f, 1_000, 22:22: a number only to YAML
            return node.text
    return node.text


def _start(path: str) -> Span | None:
    return Span(file=path, line=1, column=1) if path else None


def _refused(span: Span | None, address: str, what: str, hint: str = "") -> Diagnostic:
    return Diagnostic(
        code="GP-CAT-001",
        summary=what,
        address=address,
        hint=hint or "`gpuprov catalog show` prints the rows that there are; versions are quoted text",
        span=span,
    )
