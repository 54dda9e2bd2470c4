"""`gpuprov preview`."""

from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.ground import UpRequest
from gpuprov.app.plan_file import save_plan
from gpuprov.app.preview import preview
from gpuprov.cli.options import (
    access_options,
    cloud_options,
    json_option,
    spec_option,
    target_option,
    terms_options,
    verbose_option,
)
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import diagnostics_body, show_json
from gpuprov.render.plan_text import show_plan
from gpuprov.render.progress import ProgressView
from gpuprov.render.run_text import plan_body
from gpuprov.render.terminal import open_terminal


@click.command("preview")
@spec_option
@target_option
@access_options
@cloud_options
@terms_options
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the plan to a file, for `up --plan FILE`."
)
@click.option("--expect-no-changes", is_flag=True, help="End with status 7 when there is anything to do.")
@verbose_option
@json_option
def command(
    *, spec: Path, target: str | None, access: Access, replace: tuple[str, ...], remove: tuple[str, ...],
    refresh: bool,
    no_rollback: bool, take_over: bool, disturb: bool, out: Path | None, expect_no_changes: bool,
    verbose: bool, as_json: bool, no_colour: bool,
) -> int:  # fmt: skip
    """Show what `up` would do: resources in the cloud, and on each host packages from -> to, files, services, reboots.

    Nothing is changed. With --out the plan is kept in a file that `up --plan` makes as it stands, or refuses when spec,
    lock or a host has moved since.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    with ProgressView(terminal) as view:
        request = UpRequest(
            spec=spec,
            access=access,
            target=target,
            replace=replace,
            remove=remove,
            refresh=refresh,
            no_rollback=no_rollback,
            take_over=take_over,
            disturb=disturb,
        )
        result = preview(request, view)
    if out:
        save_plan(result.planned.plan, out)
        terminal.err.print(f"the plan is kept in {out}: `gpuprov up --plan {out}` makes it as it stands, or refuses")
    status = result.status(expect_no_changes=expect_no_changes)
    show_diagnostics(result.diagnostics, terminal)
    if as_json:
        body = {
            "status": int(status),
            "plan": plan_body(result.planned.plan),
            "diagnostics": diagnostics_body(result.diagnostics),
        }
        show_json(body, terminal)
    else:
        show_plan(result.planned.plan, terminal, verbose=verbose)
    return int(status)
