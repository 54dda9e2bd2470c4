"""`gpuprov stop`."""

from collections.abc import Sequence
from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.power import stop
from gpuprov.cli.agreeing import agreed
from gpuprov.cli.options import disturb_option, json_option, spec_option
from gpuprov.cli.power_end import end_power
from gpuprov.model.power import PowerHost
from gpuprov.render.power_text import show_stopping
from gpuprov.render.progress import ProgressView
from gpuprov.render.terminal import Terminal, open_terminal


@click.command("stop")
@click.argument("names", nargs=-1, required=True, metavar="HOST|POOL...")
@spec_option
@disturb_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def command(
    *, names: tuple[str, ...], spec: Path, disturb: bool, yes: bool, as_json: bool, no_colour: bool,
) -> int:  # fmt: skip
    """Take the work off cloud hosts as their pools say, and stop their instances; AWS then bills their volumes alone.

    They keep what is on their volumes, their names and their private addresses; what is on local disks is lost. A host
    that stays busy is not stopped, and then none is, unless --disturb is given. `gpuprov start` switches them on again.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    shown = Terminal(out=terminal.err, err=terminal.err) if as_json else terminal
    with ProgressView(terminal) as view:

        def agree(hosts: Sequence[PowerHost]) -> bool:
            show_stopping(hosts, shown)
            with view.paused():
                return agreed(f"Stop {len(hosts)} host(s)?", yes=yes)

        result = stop(spec, names, Access(), disturb=disturb, agree=agree, report=view)
    return end_power(result, terminal, as_json=as_json)
