"""The terminal: two consoles and the styles by meaning. Nothing else in gpuprov knows a colour."""

import os
import sys
from dataclasses import dataclass
from typing import Final, TextIO

from rich.console import Console
from rich.theme import Theme

from gpuprov.store.settings import COLOUR

_THEME: Final = Theme(
    {
        "error": "bold red",
        "warning": "bold yellow",
        "note": "bold cyan",
        "hint": "cyan",
        "place": "blue",
        "good": "green",
        "add": "green",
        "change": "yellow",
        "remove": "red",
        "quiet": "dim",
        "name": "bold",
    }
)
_PIPE_WIDTH: Final = 160


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where results (`out`) and everything else (`err`) go."""

    out: Console
    err: Console


def open_terminal(*, colour: bool | None = None) -> Terminal:
    """Open the two consoles.

    Args:
        colour: True or False to force; None asks GPUPROV_COLOUR, the terminal and NO_COLOR.
    """
    if colour is None:
        colour = {"always": True, "never": False}.get(os.environ.get(COLOUR, ""))
    return Terminal(out=_console(colour, stderr=False), err=_console(colour, stderr=True))


def text_terminal(stream: TextIO) -> Terminal:
    """Open a terminal that writes results and everything else to a stream, without colour, as a pipe would get them."""
    console = Console(
        file=stream, theme=_THEME, highlight=False, markup=False, emoji=False, soft_wrap=True, width=_PIPE_WIDTH
    )
    return Terminal(out=console, err=console)


def _console(colour: bool | None, *, stderr: bool) -> Console:  # noqa: FBT001
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    return Console(
        stderr=stderr,
        theme=_THEME,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
        width=width,
        no_color=(not colour) if colour is not None else None,
        force_terminal=True if colour else None,
    )
