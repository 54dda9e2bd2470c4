"""`gpuprov snapshot`."""

from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.optional_site import site_if_there
from gpuprov.app.snapshot import replay, take_snapshots
from gpuprov.cli.options import access_options, json_option, spec_option
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import show_json
from gpuprov.render.progress import ProgressView
from gpuprov.render.snapshot_text import look_body, show_look, show_stand_ins
from gpuprov.render.terminal import open_terminal


@click.command("snapshot")
@click.argument("hosts", nargs=-1)
@spec_option
@access_options
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="File (one host) or folder (several) for the snapshots."
)
@click.option("--record", type=click.Path(path_type=Path), help="The same for recordings: what every command printed.")
@click.option(
    "--full",
    is_flag=True,
    help="Recordings keep the names of hosts, addresses and serial numbers; else these get stand-ins, for sharing.",
)
@click.option(
    "--replay", "recordings", type=click.Path(path_type=Path), multiple=True,
    help="Make a snapshot of a recording, without a host; may be given several times, and with --record.",
)  # fmt: skip
@json_option
def command(
    *, hosts: tuple[str, ...], spec: Path, access: Access, out: Path | None, record: Path | None,
    full: bool, recordings: tuple[Path, ...], as_json: bool, no_colour: bool,
) -> int:  # fmt: skip
    """Look at hosts, read-only, and write what is there. Without names: all hosts of the spec's pools."""
    terminal = open_terminal(colour=False if no_colour else None)
    if full and record is None:
        raise click.UsageError("--full says what recordings keep; it needs --record")
    if recordings:
        if hosts:
            raise click.UsageError("--replay reads recordings; it takes no hosts")
        look = replay(recordings, out=out, record=record, full=full)
    else:
        site = site_if_there(spec)
        if not hosts and site is None and access.inventory is None:
            raise click.UsageError("name a host, an inventory (-i), or a spec (-f)")
        with ProgressView(terminal) as view:
            look = take_snapshots(hosts, site=site, access=access, out=out, record=record, full=full, report=view)
    show_diagnostics(look.diagnostics, terminal)
    if as_json:
        show_json(look_body(look.snapshots, look.not_observed, look.stand_ins), terminal)
    else:
        show_look(look.snapshots, look.not_observed, look.written, terminal)
        show_stand_ins(look.stand_ins, terminal)
    return int(look.status)
