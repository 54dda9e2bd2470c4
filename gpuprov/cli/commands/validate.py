"""`gpuprov validate`."""

from pathlib import Path

import click

from gpuprov.app.validate import validate
from gpuprov.cli.options import json_option, spec_option
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import diagnostics_body, show_json
from gpuprov.render.terminal import open_terminal


@click.command("validate")
@spec_option
@json_option
def command(*, spec: Path, as_json: bool, no_colour: bool) -> int:
    """Check the spec, offline: form, names, and what can work together; all errors in one run."""
    result = validate(spec)
    terminal = open_terminal(colour=False if no_colour else None)
    show_diagnostics(result.diagnostics, terminal)
    if as_json:
        show_json({"status": int(result.status), "diagnostics": diagnostics_body(result.diagnostics)}, terminal)
    elif result.status == 0:
        pools = ", ".join(result.pools)
        terminal.out.print(f"{spec}: sound ({len(result.pools)} pool(s): {pools})")
    return int(result.status)
