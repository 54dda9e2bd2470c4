"""`gpuprov lock`."""

from pathlib import Path

import click

from gpuprov.app.lock import check, make
from gpuprov.cli.options import json_option, spec_option
from gpuprov.model.diagnostic import status_of
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import diagnostics_body, show_json
from gpuprov.render.lock_text import lock_body, show_locked
from gpuprov.render.progress import ProgressView
from gpuprov.render.terminal import open_terminal


@click.command("lock")
@spec_option
@click.option(
    "--upgrade", "upgrade", multiple=True, is_flag=False, flag_value="*", metavar="[NAME]",
    help="Let a package move to the newest version that the spec allows; without a name, all.",
)  # fmt: skip
@click.option("--check", "only_check", is_flag=True, help="Write nothing; end with status 5 when the lock is stale.")
@click.option("--dry-run", is_flag=True, help="Show what would move, and write nothing.")
@json_option
def command(
    *, spec: Path, upgrade: tuple[str, ...], only_check: bool, dry_run: bool, as_json: bool, no_colour: bool
) -> int:
    """Resolve the spec to exact packages with checksums, from signed indexes, and write gpuprov.lock.

    Versions of the lock that is there are kept while they are offered and allowed.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    if only_check:
        if upgrade or dry_run:
            raise click.UsageError("--check changes nothing; it takes neither --upgrade nor --dry-run")
        with ProgressView(terminal) as view:
            checked = check(spec, view)
        show_diagnostics(checked.diagnostics, terminal)
        if as_json:
            show_json({"fresh": checked.verdict.fresh, "diagnostics": diagnostics_body(checked.diagnostics)}, terminal)
        elif checked.verdict.fresh:
            terminal.out.print("the lock is fresh")
        return int(status_of(checked.diagnostics))
    with ProgressView(terminal) as view:
        locked = make(spec, upgrade=frozenset(upgrade), dry_run=dry_run, report=view)
    show_diagnostics(locked.diagnostics, terminal)
    if as_json:
        show_json(lock_body(locked.lock, locked.moves, written=locked.written), terminal)
    else:
        show_locked(locked.lock, locked.moves, locked.path, terminal, written=locked.written)
    return 0
