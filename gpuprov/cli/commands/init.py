"""`gpuprov init`."""

from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.init import init_example, init_from_host
from gpuprov.cli.options import access_options, json_option
from gpuprov.render.json_text import show_json
from gpuprov.render.progress import ProgressView
from gpuprov.render.terminal import open_terminal


@click.command("init")
@click.option("--from", "source", metavar="HOST", help="Write the spec of what is on this host.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    default=Path(),
    show_default="this folder",
    help="Where to write.",
)
@access_options
@json_option
def command(
    *, source: str | None, folder: Path, access: Access, as_json: bool, no_colour: bool,
) -> int:  # fmt: skip
    """Write a commented spec and inventory; with --from HOST a spec of what is there. Nothing is overwritten."""
    terminal = open_terminal(colour=False if no_colour else None)
    if source is None:
        written = init_example(folder)
    else:
        with ProgressView(terminal) as view:
            written = init_from_host(source, folder, access, view)
    if as_json:
        show_json({"written": [str(path) for path in written]}, terminal)
    else:
        for path in written:
            terminal.out.print(f"wrote {path}")
        terminal.out.print("read them, change what is not yours, then: gpuprov validate")
    return 0
