"""What `up` and `destroy` have in common at the command line: progress, the plan, the question, the result."""

from collections.abc import Callable, Sequence

import click

from gpuprov.app.ground import UpRequest
from gpuprov.app.up import Ask, up
from gpuprov.cli.agreeing import agreed
from gpuprov.model.change import Plan
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.progress import Report
from gpuprov.model.resource import ResourceAction
from gpuprov.model.run import RunResult
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import show_json
from gpuprov.render.plan_text import show_plan
from gpuprov.render.progress import ProgressView
from gpuprov.render.run_text import run_body, show_run
from gpuprov.render.terminal import Terminal, open_terminal


def apply(request: UpRequest, *, yes: bool, verbose: bool, as_json: bool, no_colour: bool) -> int:
    """Run `up` or `destroy` and show what happened; returns the exit status."""

    def work(ask: Ask, report: Report) -> RunResult:
        return up(request, ask=ask, report=report)

    return carry_out(
        work, delete_data=request.delete_data, yes=yes, verbose=verbose, as_json=as_json, no_colour=no_colour
    )


def carry_out(
    work: Callable[[Ask, Report], RunResult],
    *,
    delete_data: Sequence[str] = (),
    yes: bool,
    verbose: bool,
    as_json: bool,
    no_colour: bool,
) -> int:
    """Run what changes hosts, with its plan and question, and show what happened; returns the exit status.

    Args:
        work: the run.
        delete_data: storage whose data goes, each of which is asked about.
        yes: whether nothing is asked.
        verbose: whether the plan is shown in full.
        as_json: whether the result is JSON.
        no_colour: whether colours are off.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    shown_before: list[Diagnostic] = []
    with ProgressView(terminal) as view:

        def ask(plan: Plan, told: Sequence[Diagnostic]) -> bool:
            show_diagnostics(told, terminal)
            shown_before.extend(told)
            shown = Terminal(out=terminal.err, err=terminal.err) if as_json else terminal
            show_plan(plan, shown, verbose=verbose)
            if yes:
                return True
            with view.paused():
                return confirm(plan, delete_data)

        result = work(ask, view)
    if as_json:
        late = [*result.diagnostics, *(d for h in result.hosts for d in h.diagnostics)]
        show_diagnostics([d for d in late if d not in shown_before], terminal)
        show_json(run_body(result), terminal)
    else:
        show_run(result, terminal, told=shown_before)
    return int(result.status)


def confirm(plan: Plan, delete_data: Sequence[str]) -> bool:
    """Ask once for everything, and then for the name of each storage whose data goes.

    Raises:
        GpuprovError: GP-RUN-002 without a terminal.
    """
    if not agreed(question(plan), yes=False):
        return False
    # What cannot be had back is typed, so that no habit of pressing y deletes it.
    return all(_typed(name) for name in delete_data)


def question(plan: Plan) -> str:
    """What is asked before a change: everything that would happen, counted."""
    counts = {action: sum(1 for c in plan.resources.changes if c.action is action) for action in ResourceAction}
    words = {"make": ResourceAction.CREATE, "change": ResourceAction.UPDATE, "replace": ResourceAction.REPLACE}
    parts = [
        f"{word} {counts[action]}"
        for word, action in {**words, "delete": ResourceAction.DELETE}.items()
        if counts[action]
    ]
    cloud = f"{', '.join(parts)} resource(s) in the cloud" if parts else ""
    changing = sum(1 for host in plan.hosts if host.changes)
    new = len(plan.resources.new_hosts)
    hosts = f"set up {new} new host(s)" if new else ""
    changed = f"change {changing} host(s)" if changing else ""
    text = " and ".join(part for part in (cloud, hosts, changed) if part)
    return text[:1].upper() + text[1:] + "?"


def _typed(name: str) -> bool:
    typed = click.prompt(f"Type {name} to delete what it holds", default="", show_default=False, err=True)
    return bool(typed.strip() == name)
