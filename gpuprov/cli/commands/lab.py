"""`gpuprov lab`."""

from pathlib import Path

import click

from gpuprov.app.lab import lab_down, lab_status, lab_up
from gpuprov.cli.options import json_option
from gpuprov.render.json_text import show_json
from gpuprov.render.lab_text import lab_body, show_lab, show_labs
from gpuprov.render.progress import ProgressView
from gpuprov.render.terminal import open_terminal

_ID = click.option(
    "--id", "lab_id", default="demo", show_default=True, help="Name of the lab; several can stand at once."
)


@click.group("lab")
def command() -> None:
    """A data centre and a cloud on this machine (root): real systems; GPUs, their vendor and AWS simulated."""


@command.command("up")
@_ID
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Versions, names, addresses and GPUs come from it."
)
@click.option("--nodes", type=click.IntRange(2, 32), default=4, show_default=True, help="How many nodes.")
@click.option(
    "--dir", "folder", type=click.Path(path_type=Path), default=Path(".gpuprov/lab"), show_default=True,
    help="Where spec, inventory, keys and known hosts are written.",
)  # fmt: skip
@click.option("--no-cloud", is_flag=True, help="The rack only, without a simulated AWS.")
@json_option
def up(*, lab_id: str, seed: int, nodes: int, no_cloud: bool, folder: Path, as_json: bool, no_colour: bool) -> int:
    """Start a lab, and write a spec and an inventory for it."""
    terminal = open_terminal(colour=False if no_colour else None)
    with ProgressView(terminal) as view:
        lab = lab_up(lab_id, seed=seed, nodes=nodes, cloud=not no_cloud, folder=folder, report=view)
    if as_json:
        show_json(lab_body(lab), terminal)
    else:
        show_lab(lab, terminal)
    return 0


@command.command("down")
@_ID
@json_option
def down(*, lab_id: str, as_json: bool, no_colour: bool) -> int:
    """Take a lab away: its systems, networks, mounts, rules; also what a killed lab left."""
    terminal = open_terminal(colour=False if no_colour else None)
    with ProgressView(terminal) as view:
        removed = lab_down(lab_id, report=view)
    if as_json:
        show_json({"removed": removed}, terminal)
    else:
        terminal.out.print(f"lab {lab_id}: " + ("gone" if removed else "there was nothing of it"))
    return 0


@command.command("status")
@json_option
def status(*, as_json: bool, no_colour: bool) -> int:
    """Show the labs of this machine and their nodes."""
    terminal = open_terminal(colour=False if no_colour else None)
    labs = lab_status()
    if as_json:
        show_json({"labs": [lab_body(lab) for lab in labs]}, terminal)
    else:
        show_labs(labs, terminal)
    return 0
