"""One question before something is changed, for commands that show no plan."""

import sys

import click

from gpuprov.model.diagnostic import Diagnostic, GpuprovError


def agreed(question: str, *, yes: bool) -> bool:
    """Whether the user agrees.

    Args:
        question: what is asked.
        yes: whether that was said on the command line already.

    Raises:
        GpuprovError: GP-RUN-002 without a terminal.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise GpuprovError(
            Diagnostic(
                code="GP-RUN-002",
                summary="a confirmation is needed, and standard input is no terminal",
                detail="nothing was changed",
                hint="read what stands above; give --yes to go on without a question",
            )
        )
    return click.confirm(question, default=False, err=True)
