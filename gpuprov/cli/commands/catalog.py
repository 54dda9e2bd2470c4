"""`gpuprov catalog`: show, verify."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gpuprov.app.catalog import show_catalog, verify_catalog
from gpuprov.cli.options import json_option
from gpuprov.model.diagnostic import status_of
from gpuprov.render.catalog_text import catalog_body, show_rows, show_sound, tables_body
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import show_json
from gpuprov.render.terminal import open_terminal


def _rows_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--rows",
        "folder",
        type=click.Path(path_type=Path),
        help="Folder of your own rows, as `catalog:` of a spec names it; they count before the packaged ones.",
    )(command)


@click.group("catalog")
def command() -> None:
    """What gpuprov knows: GPUs, driver branches, CUDA, packages, systems, instances, each with source and date."""


@command.command("show")
@click.argument("kind", required=False, default="")
@click.argument("name", required=False, default="")
@_rows_option
@json_option
def show_command(*, kind: str, name: str, folder: Path | None, as_json: bool, no_colour: bool) -> int:
    """List the tables; the rows of a table (KIND); or all that is known of a row (NAME), and where it comes from.

    KIND may be the beginning of a table's name, such as `gpu`. NAME is a row's id or another of its names: a GPU's as
    NVML writes it, or its PCI device id.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    shown, told = show_catalog(kind, name, folder)
    show_diagnostics(told, terminal)
    if as_json:
        show_json(catalog_body(shown), terminal)
    else:
        show_rows(shown, terminal)
    return 0


@command.command("verify")
@_rows_option
@json_option
def verify_command(*, folder: Path | None, as_json: bool, no_colour: bool) -> int:
    """Check that references exist, ranges are consistent, nothing is there twice, and every row has a source."""
    terminal = open_terminal(colour=False if no_colour else None)
    tables, found = verify_catalog(folder)
    status = status_of(found)
    show_diagnostics(found, terminal)
    if as_json:
        show_json(tables_body(tables, found), terminal)
    elif status == 0:
        show_sound(tables, terminal)
    return int(status)
