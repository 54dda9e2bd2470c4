"""`gpuprov image`: build, list, verify, prune."""

from collections.abc import Sequence
from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.image import list_images, prune_images
from gpuprov.app.image_build import BuildRequest, build_image
from gpuprov.app.image_verify import VerifyRequest, verify_images
from gpuprov.cli.agreeing import agreed
from gpuprov.cli.options import json_option, spec_option
from gpuprov.cloud.images import ImageStatus
from gpuprov.cloud.images_text import image_row
from gpuprov.cloud.types import Image
from gpuprov.model.diagnostic import status_of
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.image_text import images_body, show_built, show_going, show_images, show_pruned
from gpuprov.render.image_verify_text import show_verified, verified_body
from gpuprov.render.json_text import diagnostics_body, show_json
from gpuprov.render.progress import ProgressView
from gpuprov.render.terminal import Terminal, open_terminal


@click.group("image")
def command() -> None:
    """Machine images: a pool's software baked once, so that new instances need no package."""


@command.command("build")
@click.argument("pool", required=False)
@spec_option
@click.option("--again", is_flag=True, help="Build although there is a checked image of the same software and base.")
@json_option
def build(*, pool: str | None, spec: Path, again: bool, as_json: bool, no_colour: bool) -> int:
    """Bake an image of a POOL's software, and check a host started from it.

    Builder and check run as instances in a stack of their own and are removed afterwards; the image stays, tagged with
    the digest of what it holds, and is listed in gpuprov.images.json beside the spec.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    with ProgressView(terminal) as view:
        built = build_image(BuildRequest(spec=spec, pool=pool, again=again, access=Access()), report=view)
    show_diagnostics(built.diagnostics, terminal)
    if as_json:
        body = {
            "image": image_row(built.image),
            "made": built.made,
            "list": str(built.path),
            "run": built.run,
            "seconds": dict(built.seconds),
            "packages": list(built.host.packages) if built.host else [],
            "tasks": built.host.tasks if built.host else 0,
            "diagnostics": diagnostics_body(built.diagnostics),
        }
        show_json(body, terminal)
    else:
        show_built(
            built.image,
            terminal,
            made=built.made,
            path=built.path,
            host=built.host,
            seconds=built.seconds,
            run=built.run,
        )
    return int(status_of(built.diagnostics))


@command.command("list")
@spec_option
@json_option
def list_(*, spec: Path, as_json: bool, no_colour: bool) -> int:
    """Show the images of the list and of the account, and which one new hosts start from."""
    terminal = open_terminal(colour=False if no_colour else None)
    with ProgressView(terminal) as view:
        images = list_images(spec, view)
    show_diagnostics(images.diagnostics, terminal)
    if as_json:
        show_json(images_body(images.rows), terminal)
    else:
        show_images(images.rows, terminal)
    return int(status_of(images.diagnostics))


@command.command("verify")
@click.argument("pool", required=False)
@spec_option
@click.option("--boot", is_flag=True, help="Start a host from the image that new hosts start from, and look at it.")
@json_option
def verify(*, pool: str | None, spec: Path, boot: bool, as_json: bool, no_colour: bool) -> int:
    """Check that images are what their records say: state, architecture, snapshots, tags, and that none is public.

    What is inside was checked when an image was built, and EC2 lets nobody change it; --boot looks once more, by a host
    in a stack of its own that is removed afterwards. Status 7 when an image differs.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    with ProgressView(terminal) as view:
        verified = verify_images(VerifyRequest(spec=spec, pool=pool, boot=boot, access=Access()), report=view)
    show_diagnostics(verified.diagnostics, terminal)
    if as_json:
        show_json(verified_body(verified.images, verified.diagnostics), terminal)
    else:
        show_verified(verified.images, terminal)
    return int(status_of(verified.diagnostics))


@command.command("prune")
@spec_option
@click.option(
    "--keep", type=click.IntRange(0), default=2, show_default=True, help="So many checked images of each pool stay."
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def prune(*, spec: Path, keep: int, yes: bool, as_json: bool, no_colour: bool) -> int:
    """Remove older images with their snapshots; one that an instance runs from stays."""
    terminal = open_terminal(colour=False if no_colour else None)
    with ProgressView(terminal) as view:

        def ask(going: Sequence[Image], orphans: Sequence[str], kept: Sequence[ImageStatus]) -> bool:
            show_going(going, orphans, kept, Terminal(out=terminal.err, err=terminal.err) if as_json else terminal)
            with view.paused():
                return agreed(_question(going, orphans), yes=yes)

        pruned = prune_images(spec, keep=keep, ask=ask, report=view)
    show_diagnostics(pruned.diagnostics, terminal)
    if as_json:
        body = {
            "removed": [image_row(image) for image in pruned.removed],
            "snapshots": list(pruned.snapshots),
            "kept": images_body(pruned.kept)["images"],
            "diagnostics": diagnostics_body(pruned.diagnostics),
        }
        show_json(body, terminal)
    else:
        show_pruned(pruned.removed, pruned.snapshots, terminal)
    return int(status_of(pruned.diagnostics))


def _question(going: Sequence[Image], orphans: Sequence[str]) -> str:
    snapshots = f" and {len(orphans)} snapshot(s)" if orphans else ""
    return f"Remove {len(going)} image(s){snapshots}?"
