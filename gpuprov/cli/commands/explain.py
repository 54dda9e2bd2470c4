"""`gpuprov explain`."""

from pathlib import Path

import click
from click.core import ParameterSource

from gpuprov.app.explain import explain_subject
from gpuprov.app.explain_finding import explain_finding, is_finding_id
from gpuprov.cli.options import json_option, spec_option
from gpuprov.model.codes import CODES
from gpuprov.reference.explain import names
from gpuprov.render.explain_text import explanation_body, show_explanation
from gpuprov.render.finding_text import finding_body, show_finding
from gpuprov.render.json_text import show_json
from gpuprov.render.terminal import Terminal, open_terminal


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in (*names(), *CODES) if name.startswith(incomplete)]


@click.command("explain")
@click.argument("subject", metavar="[ADDRESS|CODE|FINDING]", default="", shell_complete=_complete)
@click.option(
    "--report", type=click.Path(path_type=Path), help="For a finding: the report it is in; else the last one here."
)
@spec_option
@json_option
def command(*, subject: str, report: Path | None, spec: Path, as_json: bool, no_colour: bool) -> int:
    """Explain a field of the spec, a facet of a host, an error's code, or a finding; without one, list them.

    A field: its text, type, default and examples, what it becomes on a host, what changing it costs, and what the
    spec at hand says there. A facet: who observes it and how it is compared. A rule (GP-RULE-...): what it
    asks, the sources that it rests on, and what satisfies it. Quotes that the shell takes away may be
    left out: `gpuprov explain 'package[docker.io].version'`. A finding (F-...) of the last `gpuprov parity`: both
    sides, what they rest on (command, status and digest of its output, when), and what `up` would do.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    if is_finding_id(subject):
        return _explain_finding(subject, spec if spec.exists() else None, report, terminal, as_json=as_json)
    if report is not None:
        raise click.UsageError("--report belongs to a finding: `gpuprov explain F-... --report FILE`")
    named = click.get_current_context().get_parameter_source("spec") is not ParameterSource.DEFAULT
    found = explain_subject(subject, spec if named or spec.exists() else None)
    if as_json:
        show_json(explanation_body(found.explanation, found.origins, command=found.command), terminal)
    else:
        show_explanation(found.explanation, found.origins, terminal, command=found.command, unsound=found.unsound)
    return 0


def _explain_finding(name: str, spec: Path | None, report: Path | None, terminal: Terminal, *, as_json: bool) -> int:
    found = explain_finding(name, spec=spec, report=report)
    if as_json:
        show_json(finding_body(found), terminal)
    else:
        show_finding(found, terminal)
    return 0
