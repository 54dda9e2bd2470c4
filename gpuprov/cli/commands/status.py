"""`gpuprov status`."""

from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.status import status
from gpuprov.cli.options import access_options, json_option, spec_option, target_option
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import show_json
from gpuprov.render.progress import ProgressView
from gpuprov.render.status_text import show_status, status_body
from gpuprov.render.terminal import open_terminal


@click.command("status")
@spec_option
@target_option
@access_options
@json_option
def command(
    *, spec: Path, target: str | None, access: Access, as_json: bool, no_colour: bool,
) -> int:  # fmt: skip
    """Show for each host, on all targets of the spec, whether it is as wanted; in the cloud age, image and cost too.

    Status: 0 when all are, 7 for differences, 10 when a host could not be seen.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    with ProgressView(terminal) as view:
        result = status(spec, access, view, target=target)
    show_diagnostics(result.diagnostics, terminal)
    if as_json:
        show_json(status_body(result.planned, result.status, result.view), terminal)
    else:
        show_status(result.planned, terminal, result.view)
    return int(result.status)
