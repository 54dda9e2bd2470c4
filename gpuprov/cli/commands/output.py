"""`gpuprov output`."""

from pathlib import Path

import click

from gpuprov.app.output import output
from gpuprov.cli.options import json_option, spec_option
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import show_json
from gpuprov.render.output_text import output_body, show_output
from gpuprov.render.terminal import open_terminal


@click.command("output")
@click.argument("name", required=False)
@spec_option
@json_option
def command(*, name: str | None, spec: Path, as_json: bool, no_colour: bool) -> int:
    """Show what was made in the cloud: hosts with their addresses, buckets, volumes.

    NAME is a host, a storage, or a volume as STORAGE/HOST. Nothing is asked of the cloud: this is what was recorded.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    found, told = output(spec, name)
    show_diagnostics(told, terminal)
    if as_json:
        show_json(output_body(found), terminal)
    else:
        show_output(found, terminal)
    return 0
