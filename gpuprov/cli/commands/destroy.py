"""`gpuprov destroy`."""

from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.up import UpRequest
from gpuprov.cli.applying import apply
from gpuprov.cli.options import access_options, json_option, spec_option, target_option, verbose_option


@click.command("destroy")
@spec_option
@target_option
@access_options
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@verbose_option
@json_option
def command(
    *, spec: Path, target: str, access: Access, yes: bool, verbose: bool, as_json: bool, no_colour: bool,
) -> int:  # fmt: skip
    """Hand hosts back: holds, pins, sources and files of gpuprov go; packages and data stay."""
    del target
    return apply(
        UpRequest(spec=spec, access=access, release=True),
        yes=yes,
        verbose=verbose,
        as_json=as_json,
        no_colour=no_colour,
    )
