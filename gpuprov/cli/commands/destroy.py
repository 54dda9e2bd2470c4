"""`gpuprov destroy`."""

from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.ground import UpRequest
from gpuprov.cli.applying import apply
from gpuprov.cli.options import access_options, json_option, spec_option, target_option, verbose_option


@click.command("destroy")
@spec_option
@target_option
@access_options
@click.option(
    "--delete-data", "delete_data", multiple=True, metavar="NAME",
    help="Storage in the cloud whose data goes too: the name of a bucket or of volumes. Repeatable.",
)  # fmt: skip
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@verbose_option
@json_option
def command(
    *, spec: Path, target: str | None, access: Access, delete_data: tuple[str, ...], yes: bool, verbose: bool,
    as_json: bool, no_colour: bool,
) -> int:  # fmt: skip
    """Hand racked hosts back, or delete those in the cloud.

    On the rack holds, pins, sources and files of gpuprov go; packages and data stay. In the cloud everything goes but
    what holds data, which is named; --delete-data NAME deletes that too.
    """
    return apply(
        UpRequest(spec=spec, access=access, target=target, release=True, delete_data=delete_data),
        yes=yes,
        verbose=verbose,
        as_json=as_json,
        no_colour=no_colour,
    )
