"""`catalog`: what is known, where it comes from, and whether it is sound."""

from pathlib import Path

from gpuprov.app.own_rows import read_rows
from gpuprov.catalog.load import PACKAGED, Catalog
from gpuprov.catalog.own import read_own
from gpuprov.catalog.verify import problems
from gpuprov.catalog.view import Shown, TableCount, counts, show
from gpuprov.model.diagnostic import Diagnostic, GpuprovError


def show_catalog(kind: str, name: str, folder: Path | None) -> tuple[Shown, tuple[Diagnostic, ...]]:
    """Find a table or rows of one, and the notes on own rows; see `catalog.view.show`.

    Args:
        kind: name of a table or the beginning of one; empty for all tables.
        name: id of a row, or another of its names; empty for all rows.
        folder: of own rows, which count before the packaged ones.

    Raises:
        GpuprovError: GP-CAT-004 when there is no such table or row; GP-CAT-001 for own rows that are wrong.
    """
    catalog, told = _in_force(folder)
    return show(catalog, kind, name), told


def verify_catalog(folder: Path | None) -> tuple[tuple[TableCount, ...], tuple[Diagnostic, ...]]:
    """Check the packaged catalog, with own rows over it where a folder is named.

    Returns:
        The tables, and everything that is wrong; no tables where the own rows cannot be read.
    """
    try:
        catalog, told = _in_force(folder)
    except GpuprovError as error:
        return (), error.diagnostics
    wrong = tuple(Diagnostic(code="GP-CAT-001", summary=problem) for problem in problems(catalog))
    return counts(catalog), (*told, *wrong)


def _in_force(folder: Path | None) -> tuple[Catalog, tuple[Diagnostic, ...]]:
    if folder is None:
        return PACKAGED, ()
    own = read_own(read_rows(folder))
    return own.catalog, own.notes
