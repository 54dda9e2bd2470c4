"""`gpuprov recover`."""

from pathlib import Path

import click

from gpuprov.app.recover import Recovery, recover
from gpuprov.cli.agreeing import agreed
from gpuprov.cli.options import json_option, spec_option
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import diagnostics_body, show_json
from gpuprov.render.progress import ProgressView
from gpuprov.render.stack_record_text import orphans_body, show_recovery
from gpuprov.render.terminal import Terminal, open_terminal


@click.command("recover")
@spec_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def command(*, spec: Path, yes: bool, as_json: bool, no_colour: bool) -> int:
    """Explain what interrupted runs left in the cloud, and settle it in the state; the account is not changed.

    What an engine was killed in is looked for in the account. What a cut connection left is found by its tags and taken
    into the state, so that `up` keeps it or shows its deletion. `up` and `destroy` do the first by themselves.
    Status: 7 when something was found and left as it is.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    shown = Terminal(out=terminal.err, err=terminal.err) if as_json else terminal
    with ProgressView(terminal) as view:

        def agree(found: Recovery) -> bool:
            show_recovery(found.pending, found.orphans, shown, unfinished=found.unfinished)
            if yes:
                return True
            with view.paused():
                return agreed("Settle it in the state?", yes=False)

        result = recover(spec, view, agree=agree)
    show_diagnostics(result.diagnostics, terminal)
    if as_json:
        body = {
            "status": int(result.status),
            "pending": [{"address": address, "operation": operation} for address, operation in result.pending],
            "unfinished": result.unfinished,
            "orphans": orphans_body(result.orphans),
            "done": result.done,
            "diagnostics": diagnostics_body(result.diagnostics),
        }
        show_json(body, terminal)
    elif result.empty:
        show_recovery((), (), terminal, unfinished=False)
    else:
        terminal.out.print("settled" if result.done else "nothing was changed")
    return int(result.status)
