"""`gpuprov up`."""

from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.ground import UpRequest
from gpuprov.cli.applying import apply
from gpuprov.cli.options import (
    access_options,
    cloud_options,
    json_option,
    spec_option,
    target_option,
    terms_options,
    verbose_option,
)


@click.command("up")
@spec_option
@target_option
@access_options
@cloud_options
@terms_options
@click.option(
    "--plan",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Make what this plan of `preview --out` says, or refuse: nothing else.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with the last run, which was killed or interrupted, or failed: its hosts, by the same spec and lock.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@verbose_option
@json_option
def command(
    *, spec: Path, target: str | None, access: Access, replace: tuple[str, ...], remove: tuple[str, ...],
    refresh: bool, no_rollback: bool,
    take_over: bool, disturb: bool, plan: Path | None, resume: bool, yes: bool,
    verbose: bool, as_json: bool, no_colour: bool,
) -> int:  # fmt: skip
    """Make what is missing, bring hosts to the locked stack, and prove it.

    Every host that exists is looked at first; one that is as wanted is not touched. One plan is shown and asked about:
    what would be made in the cloud, and what would change on each host. A host is rebooted only when the plan says so,
    and an instance, bucket or volume is replaced or deleted only when it is named with --replace or --remove.
    """
    return apply(
        UpRequest(
            spec=spec,
            access=access,
            target=target,
            replace=replace,
            remove=remove,
            refresh=refresh,
            no_rollback=no_rollback,
            take_over=take_over,
            disturb=disturb,
            plan=plan,
            resume=resume,
        ),
        yes=yes,
        verbose=verbose,
        as_json=as_json,
        no_colour=no_colour,
    )
