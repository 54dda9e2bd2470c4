"""Machine images on screen, and as JSON."""

import io
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from gpuprov.cloud.images import ImageStatus
from gpuprov.cloud.types import Image
from gpuprov.model.run import HostResult, HostState
from gpuprov.render.image_text import images_body, show_built, show_going, show_images, show_pruned
from gpuprov.render.terminal import _THEME, Terminal

ONE = Image(
    id="ami-1",
    name="site-train-1",
    pool="train",
    os="debian-12",
    arch="amd64",
    region="us-east-1",
    baked="sha256:0123456789abcdef",
    base="ami-0",
    made="2026-11-01T00:00:00Z",
    snapshots=("snap-1", "snap-2"),
    checked=True,
)
CURRENT = ImageStatus(image=ONE, in_account=True, in_list=True, current=True, used=True)
OLD = replace(CURRENT, image=replace(ONE, id="ami-2"), current=False, used=False, in_list=False)
GONE = replace(CURRENT, image=replace(ONE, id="ami-3"), in_account=False, current=False)
RAW = replace(CURRENT, image=replace(ONE, id="ami-4", checked=False), current=False)


@dataclass
class Screen:
    """A terminal whose output can be read."""

    file: io.StringIO = field(default_factory=io.StringIO)

    @property
    def terminal(self) -> Terminal:
        console = Console(file=self.file, width=200, markup=False, highlight=False, soft_wrap=True, theme=_THEME)
        return Terminal(out=console, err=console)

    @property
    def text(self) -> str:
        return self.file.getvalue()


def test_each_image_says_what_it_is_good_for() -> None:
    screen = Screen()
    show_images([CURRENT, OLD, GONE, RAW], screen.terminal)
    lines = screen.text.splitlines()
    assert lines[0] == (
        "ami-1  train  2026-11-01T00:00:00Z  debian-12 amd64 on ami-0  baked 0123456789ab"
        "  new hosts start from it, in use"
    )
    assert lines[1].endswith("new hosts do not start from it, not in the list")
    assert lines[2].endswith("listed, but gone from the account")
    assert lines[3].endswith("never checked: no host starts from it")


def test_no_images() -> None:
    screen = Screen()
    show_images([], screen.terminal)
    assert "gpuprov image build" in screen.text


def test_what_would_go_names_snapshots_and_what_stays_says_why() -> None:
    screen = Screen()
    show_going([ONE, RAW.image], ["snap-9"], [replace(OLD, used=True), OLD], screen.terminal)
    assert screen.text.splitlines() == [
        "  - ami-1 and snap-1, snap-2  train  2026-11-01T00:00:00Z",
        "  - ami-4 and snap-1, snap-2  train  2026-11-01T00:00:00Z (never checked)",
        "  - snap-9  (its image is gone)",
        "    ami-2  train  2026-11-01T00:00:00Z  stays: an instance runs from it",
        "    ami-2  train  2026-11-01T00:00:00Z  stays: among the newest",
    ]


def test_what_went() -> None:
    screen = Screen()
    show_pruned([ONE], ["snap-9"], screen.terminal)
    assert screen.text == "removed 1 image(s) with 2 snapshot(s), and 1 snapshot(s) without an image\n"


def test_a_built_image() -> None:
    screen = Screen()
    host = HostResult(host="builder", pool="train", state=HostState.CHANGED, tasks=9, packages=("a absent -> 1",))
    show_built(
        ONE,
        screen.terminal,
        made=True,
        path=Path("gpuprov.images.json"),
        host=host,
        seconds={"builder": 20.4},
        run="runs/1",
    )
    assert "1 packages, 9 tasks" in screen.text
    assert "checked ami-1 site-train-1, debian-12 amd64, on ami-0" in screen.text
    assert "builder 20 s; run runs/1" in screen.text
    assert "gpuprov.images.json" in screen.text


def test_an_image_that_was_there() -> None:
    screen = Screen()
    show_built(ONE, screen.terminal, made=False, path=Path("x"), host=None, seconds={}, run="")
    assert screen.text == "ami-1 (site-train-1) holds this software already; nothing was built\n"


def test_a_program_reads_each_image() -> None:
    (body,) = images_body([CURRENT])["images"]  # type: ignore[misc]
    assert body["id"] == "ami-1"
    assert body["snapshots"] == ["snap-1", "snap-2"]
    assert (body["in_account"], body["in_list"], body["current"], body["used"]) == (True, True, True, True)
