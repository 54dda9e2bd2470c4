"""`gpuprov state`: list, restore, unlock."""

from collections.abc import Sequence
from pathlib import Path

import click

from gpuprov.app.stack_files import restore, stack_record, unlock
from gpuprov.cli.agreeing import agreed
from gpuprov.cli.options import json_option, spec_option
from gpuprov.model.stack_record import Holder, Restoring
from gpuprov.render.json_text import show_json
from gpuprov.render.stack_record_text import (
    holders_body,
    restoring_body,
    show_holders,
    show_restoring,
    show_stack_record,
    stack_record_body,
)
from gpuprov.render.terminal import Terminal, open_terminal

_YES = click.option("-y", "--yes", is_flag=True, help="Do not ask.")


@click.group("state")
def command() -> None:
    """What is recorded of the cloud's stack, its copies, and who holds it."""


@command.command("list")
@spec_option
@json_option
def list_(*, spec: Path, as_json: bool, no_colour: bool) -> int:
    """Show where the state is, what it holds, who holds it, and its copies, the newest first.

    Nothing is asked of the account but the state's own files.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    record = stack_record(spec)
    if as_json:
        show_json(stack_record_body(record), terminal)
    else:
        show_stack_record(record, terminal)
    return 0


@command.command("restore")
@click.argument("copy", required=False)
@spec_option
@_YES
@json_option
def restore_(*, copy: str | None, spec: Path, yes: bool, as_json: bool, no_colour: bool) -> int:
    """Make a COPY the state; without a name, the newest whole one. What was the state is kept as a copy first.

    Until an update has ended well after that, `up` looks in the account for everything that it would make.
    """
    terminal = open_terminal(colour=False if no_colour else None)

    def agree(meaning: Restoring) -> bool:
        show_restoring(meaning, _shown(terminal, as_json=as_json))
        return agreed(f"Make {meaning.copy.name} the state?", yes=yes)

    meaning, kept, done = restore(spec, copy, agree)
    if as_json:
        show_json({**restoring_body(meaning), "kept": kept, "done": done}, terminal)
    elif done:
        before = f"; what was there is kept as {kept.rpartition('/')[2]}" if kept else ""
        terminal.out.print(f"the state is {meaning.copy.name}{before}")
    else:
        terminal.out.print("nothing was changed")
    return 0


@command.command("unlock")
@spec_option
@_YES
@json_option
def unlock_(*, spec: Path, yes: bool, as_json: bool, no_colour: bool) -> int:
    """Show who holds the state, and take the lock away when that process is gone.

    A process of this machine is looked for; of another machine's only you can know that it has ended.
    """
    terminal = open_terminal(colour=False if no_colour else None)

    def agree(holders: Sequence[Holder]) -> bool:
        show_holders(holders, _shown(terminal, as_json=as_json))
        return agreed("Take the lock away?", yes=yes)

    holders, done = unlock(spec, agree)
    if as_json:
        show_json({"held_by": holders_body(holders), "done": done}, terminal)
    else:
        free = "nobody holds the state" if not holders else "nothing was changed"
        terminal.out.print("the lock is gone: `gpuprov recover` settles what that run left" if done else free)
    return 0


def _shown(terminal: Terminal, *, as_json: bool) -> Terminal:
    return Terminal(out=terminal.err, err=terminal.err) if as_json else terminal
