"""`gpuprov start`."""

from pathlib import Path

import click

from gpuprov.app.power import start
from gpuprov.cli.options import json_option, spec_option
from gpuprov.cli.power_end import end_power
from gpuprov.render.progress import ProgressView
from gpuprov.render.terminal import open_terminal


@click.command("start")
@click.argument("names", nargs=-1, required=True, metavar="HOST|POOL...")
@spec_option
@json_option
def command(*, names: tuple[str, ...], spec: Path, as_json: bool, no_colour: bool) -> int:
    """Start cloud hosts that are stopped, and wait until they run, pass their checks and answer with verified keys.

    Their public addresses are others then. `gpuprov up` proves them, and gives back the work that `stop` took off.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    with ProgressView(terminal) as view:
        result = start(spec, names, report=view)
    return end_power(result, terminal, as_json=as_json)
