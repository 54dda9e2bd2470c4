"""`gpuprov runs`: list, show."""

from pathlib import Path

import click

from gpuprov.app.resume import host_words
from gpuprov.app.runs import past_run, past_runs
from gpuprov.cli.options import json_option, spec_option
from gpuprov.render.json_text import show_json
from gpuprov.render.runs_text import past_run_body, runs_body, show_past_run, show_runs
from gpuprov.render.terminal import open_terminal


@click.group("runs")
def command() -> None:
    """What earlier runs did, from their journals beside the spec."""


@command.command("list")
@spec_option
@json_option
def list_(*, spec: Path, as_json: bool, no_colour: bool) -> int:
    """Show all runs of the site, the last one last: what was asked, and how each ended."""
    terminal = open_terminal(colour=False if no_colour else None)
    runs = past_runs(spec)
    if as_json:
        show_json(runs_body(runs), terminal)
    else:
        show_runs(runs, terminal)
    return 0


@command.command("show")
@click.argument("run", required=False)
@spec_option
@json_option
def show(*, run: str | None, spec: Path, as_json: bool, no_colour: bool) -> int:
    """Show what a RUN did with each host, step by step; without a name, the last one.

    A name may be shortened to its beginning or its end.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    found = past_run(spec, run)
    if as_json:
        show_json(past_run_body(found), terminal)
    else:
        show_past_run(found, terminal, host_words)
    return 0
