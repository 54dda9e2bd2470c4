"""`gpuprov lock`."""

from pathlib import Path

import click

from gpuprov.app.lock import Intent, check, make
from gpuprov.cli.options import json_option, spec_option
from gpuprov.model.diagnostic import status_of
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import show_json
from gpuprov.render.lock_text import lock_body, show_locked, verdict_body
from gpuprov.render.progress import ProgressView
from gpuprov.render.terminal import Terminal, open_terminal


@click.command("lock")
@spec_option
@click.option(
    "--upgrade", "upgrade", multiple=True, is_flag=False, flag_value="*", metavar="[NAME]",
    help="Let a package move to the newest version that the spec allows, the base images (`--upgrade image`, or one by "
    "its operating system), or what `kernel: hold` holds (`--upgrade kernel`); without a name, all but kernels.",
)  # fmt: skip
@click.option("--check", "only_check", is_flag=True, help="Write nothing; end with status 5 when the lock is stale.")
@click.option("--frozen", is_flag=True, help="As --check, by spec and catalog alone: no source is asked.")
@click.option("--locked", is_flag=True, help="Write nothing; end with status 5 when the new lock would be another.")
@click.option("--dry-run", is_flag=True, help="Show what would move and why, and write nothing.")
@json_option
def command(
    *,
    spec: Path,
    upgrade: tuple[str, ...],
    only_check: bool,
    frozen: bool,
    locked: bool,
    dry_run: bool,
    as_json: bool,
    no_colour: bool,
) -> int:
    """Resolve the spec to exact packages with checksums, from signed indexes, and write gpuprov.lock.

    Versions of the lock that is there are kept while they are offered and allowed.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    if only_check or frozen:
        if upgrade or dry_run or locked:
            raise click.UsageError(
                "--check and --frozen make no new lock: they take no --upgrade, --dry-run or --locked"
            )
        return _check(spec, terminal, frozen=frozen, as_json=as_json)
    if locked and upgrade:
        raise click.UsageError("--locked lets nothing move; it takes no --upgrade")
    intent = Intent.LOCKED if locked else Intent.DRY_RUN if dry_run else Intent.WRITE
    with ProgressView(terminal) as view:
        made = make(spec, upgrade=frozenset(upgrade), intent=intent, report=view)
    show_diagnostics(made.diagnostics, terminal)
    if as_json:
        show_json(lock_body(made.lock, made.moves, written=made.written), terminal)
    else:
        show_locked(made.lock, made.moves, made.path, terminal, written=made.written)
    return int(status_of(made.diagnostics))


def _check(spec: Path, terminal: Terminal, *, frozen: bool, as_json: bool) -> int:
    with ProgressView(terminal) as view:
        checked = check(spec, view, frozen=frozen)
    show_diagnostics(checked.diagnostics, terminal)
    if as_json:
        show_json(verdict_body(checked.verdict, checked.diagnostics), terminal)
    elif checked.verdict.fresh and not status_of(checked.diagnostics):
        terminal.out.print("the lock fits spec and catalog; no source was asked" if frozen else "the lock is fresh")
    return int(status_of(checked.diagnostics))
