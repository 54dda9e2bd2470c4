"""Machine images for people and for programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.text import Text

from gpuprov.cloud.images import ImageStatus
from gpuprov.cloud.images_text import image_row
from gpuprov.cloud.types import Image
from gpuprov.model.run import HostResult
from gpuprov.render.terminal import Terminal

_DIGEST: Final = 12
"""Shown characters of a digest, without its `sha256:`."""


def show_built(
    image: Image,
    terminal: Terminal,
    *,
    made: bool,
    path: Path,
    host: HostResult | None,
    seconds: Mapping[str, float],
    run: str,
) -> None:
    """Print what came of an image build."""
    out = terminal.out
    if not made:
        out.print(Text.assemble((image.id, "name"), f" ({image.name}) holds this software already; nothing was built"))
        return
    if host is not None:
        packages = f"{len(host.packages)} packages, {host.tasks} tasks"
        out.print(f"the builder was brought to the software of the pool {image.pool}: {packages}")
    facts = f" {image.name}, {image.os} {image.arch}, on {image.base}"
    out.print(Text.assemble(("checked", "good"), " ", (image.id, "name"), facts))
    steps = ", ".join(f"{name} {time:.0f} s" for name, time in seconds.items())
    out.print(Text(f"{steps}; run {run}", style="quiet"))
    out.print(f"listed in {path}")


def show_images(rows: Sequence[ImageStatus], terminal: Terminal) -> None:
    """Print one line an image, oldest first."""
    for row in rows:
        image = row.image
        state, style = _state(row)
        digest = image.baked.removeprefix("sha256:")[:_DIGEST]
        terminal.out.print(
            Text.assemble(
                (image.id, "name"),
                f"  {image.pool}  {image.made}  {image.os} {image.arch} on {image.base}  baked {digest}  ",
                (state, style),
            )
        )
    if not rows:
        terminal.out.print("no images; `gpuprov image build` bakes one")


def show_going(going: Sequence[Image], orphans: Sequence[str], kept: Sequence[ImageStatus], terminal: Terminal) -> None:
    """Print what `image prune` would remove, and what stays."""
    for image in going:
        snapshots = f" and {', '.join(image.snapshots)}" if image.snapshots else ""
        why = "" if image.checked else " (never checked)"
        terminal.out.print(
            Text.assemble("  ", ("-", "remove"), f" {image.id}{snapshots}  {image.pool}  {image.made}{why}")
        )
    for snapshot in orphans:
        terminal.out.print(Text.assemble("  ", ("-", "remove"), f" {snapshot}  (its image is gone)"))
    for row in kept:
        why = "an instance runs from it" if row.used else "among the newest"
        line = f"    {row.image.id}  {row.image.pool}  {row.image.made}  "
        terminal.out.print(Text.assemble(line, (f"stays: {why}", "quiet")))


def show_pruned(removed: Sequence[Image], snapshots: Sequence[str], terminal: Terminal) -> None:
    """Print what `image prune` removed."""
    with_images = sum(len(image.snapshots) for image in removed)
    orphans = f", and {len(snapshots)} snapshot(s) without an image" if snapshots else ""
    terminal.out.print(f"removed {len(removed)} image(s) with {with_images} snapshot(s){orphans}")


def _state(row: ImageStatus) -> tuple[str, str]:
    if not row.in_account:
        return "listed, but gone from the account", "warning"
    if not row.image.checked:
        return "never checked: no host starts from it", "warning"
    parts = ["new hosts start from it"] if row.current else ["new hosts do not start from it"]
    parts += ["in use"] if row.used else []
    parts += [] if row.in_list else ["not in the list"]
    return ", ".join(parts), "good" if row.current else "quiet"


def images_body(rows: Sequence[ImageStatus]) -> dict[str, object]:
    """Images with what each is good for, as JSON."""
    return {
        "images": [
            {
                **image_row(row.image),
                "in_account": row.in_account,
                "in_list": row.in_list,
                "current": row.current,
                "used": row.used,
            }
            for row in rows
        ]
    }
