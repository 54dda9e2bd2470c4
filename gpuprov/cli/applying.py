"""What `up` and `destroy` have in common at the command line: progress, the plan, the question, the result."""

import sys
from collections.abc import Sequence

import click

from gpuprov.app.ground import UpRequest
from gpuprov.app.up import up
from gpuprov.model.change import Plan
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import show_json
from gpuprov.render.plan_text import show_plan
from gpuprov.render.progress import ProgressView
from gpuprov.render.run_text import run_body, show_run
from gpuprov.render.terminal import Terminal, open_terminal


def apply(request: UpRequest, *, yes: bool, verbose: bool, as_json: bool, no_colour: bool) -> int:
    """Run `up` or `destroy` and show what happened; returns the exit status."""
    terminal = open_terminal(colour=False if no_colour else None)
    with ProgressView(terminal) as view:

        def ask(plan: Plan, told: Sequence[Diagnostic]) -> bool:
            show_diagnostics(told, terminal)
            shown = Terminal(out=terminal.err, err=terminal.err) if as_json else terminal
            show_plan(plan, shown, verbose=verbose)
            if yes:
                return True
            with view.paused():
                return _confirm(plan)

        result = up(request, ask=ask, report=view)
    if as_json:
        show_diagnostics([*result.diagnostics, *(d for h in result.hosts for d in h.diagnostics)], terminal)
        show_json(run_body(result), terminal)
    else:
        show_run(result, terminal)
    return int(result.status)


def _confirm(plan: Plan) -> bool:
    if not sys.stdin.isatty():
        raise GpuprovError(
            Diagnostic(
                code="GP-RUN-002",
                summary="a confirmation is needed, and standard input is no terminal",
                detail="nothing was changed",
                hint="read the plan above; give --yes to go on without a question",
            )
        )
    hosts = sum(1 for host in plan.hosts if host.changes)
    return click.confirm(f"Change {hosts} host(s)?", default=False, err=True)
