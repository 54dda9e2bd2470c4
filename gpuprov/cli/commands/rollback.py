"""`gpuprov rollback`."""

from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.rollback import RollbackRequest, rollback
from gpuprov.app.up import Ask
from gpuprov.cli.applying import carry_out
from gpuprov.cli.options import access_options, disturb_option, json_option, spec_option, target_option, verbose_option
from gpuprov.model.progress import Report
from gpuprov.model.run import RunResult


@click.command("rollback")
@spec_option
@target_option
@access_options
@click.option(
    "--to", metavar="RUN", help="The run to go back to, by name; else the last complete one before the newest."
)
@disturb_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@verbose_option
@json_option
def command(
    *, spec: Path, target: str | None, access: Access, to: str | None, disturb: bool, yes: bool, verbose: bool,
    as_json: bool, no_colour: bool,
) -> int:  # fmt: skip
    """Bring hosts back to an earlier run, from what they keep of it themselves.

    It works with the package source gone, from a machine that has nothing but an inventory, and for a host that died
    half-way. It ends in the same proof as `up`. The spec and the lock here stay as they are: `gpuprov up` would bring
    the hosts forward again, and `gpuprov status` says so.
    """

    def work(ask: Ask, report: Report) -> RunResult:
        return rollback(
            RollbackRequest(spec=spec, access=access, target=target, to=to, disturb=disturb), ask=ask, report=report
        )

    return carry_out(work, yes=yes, verbose=verbose, as_json=as_json, no_colour=no_colour)
