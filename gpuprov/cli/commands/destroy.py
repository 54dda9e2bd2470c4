"""`gpuprov destroy`."""

from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.expiry import Expiry, describe, look_at_end
from gpuprov.app.ground import UpRequest
from gpuprov.app.targets import CLOUD
from gpuprov.cli.applying import apply
from gpuprov.cli.options import access_options, disturb_option, json_option, spec_option, target_option, verbose_option
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import diagnostics_body, show_json
from gpuprov.render.terminal import open_terminal


@click.command("destroy")
@spec_option
@target_option
@access_options
@click.option(
    "--delete-data", "delete_data", multiple=True, metavar="NAME",
    help="Storage in the cloud whose data goes too: the name of a bucket or of volumes. Repeatable.",
)  # fmt: skip
@click.option(
    "--expired", is_flag=True, help="Only if the time of the cloud hosts is over (targets.cloud.ttl); else do nothing."
)
@disturb_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@verbose_option
@json_option
def command(
    *, spec: Path, target: str | None, access: Access, delete_data: tuple[str, ...], expired: bool,
    disturb: bool, yes: bool, verbose: bool, as_json: bool, no_colour: bool,
) -> int:  # fmt: skip
    """Hand racked hosts back, or delete those in the cloud.

    On the rack holds, pins, sources and files of gpuprov go; packages and data stay. In the cloud everything goes but
    what holds data, which is named; --delete-data NAME deletes that too. Work is taken off the hosts first, as their
    pools say; where one stays busy none goes, unless --disturb is given.
    """
    if expired:
        end = look_at_end(spec, target)
        if end is None or not end.due:
            return _not_yet(end, as_json=as_json, no_colour=no_colour)
        target = target or CLOUD
    return apply(
        UpRequest(spec=spec, access=access, target=target, release=True, delete_data=delete_data, disturb=disturb),
        yes=yes,
        verbose=verbose,
        as_json=as_json,
        no_colour=no_colour,
    )


def _not_yet(end: Expiry | None, *, as_json: bool, no_colour: bool) -> int:
    """Say that nothing is due; that is no failure, so that it can be asked every hour."""
    terminal = open_terminal(colour=False if no_colour else None)
    told = () if end is None else (describe(end),)
    show_diagnostics(told, terminal)
    if as_json:
        show_json({"status": 0, "diagnostics": diagnostics_body(told)}, terminal)
    elif end is None:
        terminal.out.print("no cloud host stands: nothing is due")
    return 0
