"""What `image verify` found, for people and for programs."""

from collections.abc import Sequence

from rich.text import Text

from gpuprov.cloud.image_facts import VerifiedImage
from gpuprov.cloud.images_text import image_row
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.render.json_text import diagnostics_body
from gpuprov.render.terminal import Terminal


def show_verified(images: Sequence[VerifiedImage], terminal: Terminal) -> None:
    """Print one line an image, oldest first; what is wrong with one was told as a diagnostic."""
    for one in images:
        state, style = _state(one)
        line = f"  {one.image.pool}  {one.image.made}  "
        terminal.out.print(Text.assemble((one.image.id, "name"), line, (state, style)))
    if not images:
        terminal.out.print("no images; `gpuprov image build` bakes one")


def verified_body(images: Sequence[VerifiedImage], diagnostics: Sequence[Diagnostic]) -> dict[str, object]:
    """The same as JSON."""
    rows = [
        {**image_row(one.image), "problems": list(one.problems), "current": one.current, "booted": one.booted}
        for one in images
    ]
    return {"images": rows, "diagnostics": diagnostics_body(diagnostics)}


def _state(one: VerifiedImage) -> tuple[str, str]:
    if one.problems:
        return f"is not what its record says: {one.problems[0]}", "warning"
    if not one.image.checked:
        return "was never checked: no host starts from it", "warning"
    if one.booted:
        return "is what its record says; a host started from it held the baked part", "good"
    holds = "holds what the lock holds now" if one.current else "holds what an earlier lock held"
    return f"is what its record says; {holds}", "good" if one.current else "quiet"
