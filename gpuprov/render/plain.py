"""A line without style, for commands that run at every commit: loading what colours need takes them a tenth more."""

import sys
from contextlib import suppress


def show_line(text: str) -> None:
    """Print one line of a result, as `Terminal.out` prints a text without a style; that one loads much more."""
    if text.isascii() and text.isprintable():
        with suppress(BrokenPipeError):
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()
            return
    # What needs care is known there: letters that a terminal may not have, control characters, a reader that went away.
    from gpuprov.render.terminal import open_terminal  # noqa: PLC0415

    open_terminal().out.print(text)
