"""`gpuprov import`."""

from collections.abc import Sequence
from pathlib import Path

import click

from gpuprov.app.importing import ImportRequest, take_in
from gpuprov.cli.agreeing import agreed
from gpuprov.cli.options import json_option, spec_option
from gpuprov.cloud.importing import Import
from gpuprov.model.diagnostic import status_of
from gpuprov.model.resource import ResourceChange
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.import_text import imported_body, show_importing
from gpuprov.render.json_text import show_json
from gpuprov.render.progress import ProgressView
from gpuprov.render.terminal import Terminal, open_terminal


@click.command("import")
@click.argument("what")
@click.argument("identity", metavar="ID")
@spec_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def command(*, what: str, identity: str, spec: Path, yes: bool, as_json: bool, no_colour: bool) -> int:
    """Take something that the account has already into the stack, instead of making it.

    WHAT is `bucket.STORAGE` with a bucket's name as ID, `network` with a VPC's id, or `role` with a role's name. What
    of it would be changed to fit the spec is shown before; nothing is made anew, and tags that it has stay. From then
    on it goes with the stack: `destroy` deletes it, but for a bucket, which stays unless --delete-data names it.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    shown = Terminal(out=terminal.err, err=terminal.err) if as_json else terminal
    with ProgressView(terminal) as view:

        def ask(found: Sequence[Import], changes: Sequence[ResourceChange]) -> bool:
            show_importing(found, changes, shown)
            with view.paused():
                return agreed("Take it in?", yes=yes)

        result = take_in(ImportRequest(spec=spec, what=what, id=identity), ask=ask, report=view)
    show_diagnostics(result.diagnostics, terminal)
    if as_json:
        show_json(imported_body(result.resources, result.changes, result.diagnostics, done=result.done), terminal)
    elif result.done:
        terminal.out.print(f"taken in; run {result.run}")
    return int(status_of(result.diagnostics))
