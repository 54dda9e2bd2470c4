"""`gpuprov explain`."""

from pathlib import Path

import click
from click.core import ParameterSource

from gpuprov.app.explain import explain_subject
from gpuprov.cli.options import json_option, spec_option
from gpuprov.render.explain_text import explanation_body, show_explanation
from gpuprov.render.json_text import show_json
from gpuprov.render.terminal import open_terminal


@click.command("explain")
@click.argument("subject", metavar="[ADDRESS|CODE]", default="")
@spec_option
@json_option
def command(*, subject: str, spec: Path, as_json: bool, no_colour: bool) -> int:
    """Explain a field of the spec, a facet of a host, or an error's code; without one, list them.

    A field: its text, type, default and examples, what it becomes on a host, what changing it costs, and what the
    spec at hand says there. A facet: who observes it and how it is compared. Quotes that the shell takes away may be
    left out: `gpuprov explain 'package[docker.io].version'`.
    """
    named = click.get_current_context().get_parameter_source("spec") is not ParameterSource.DEFAULT
    found = explain_subject(subject, spec if named or spec.exists() else None)
    terminal = open_terminal(colour=False if no_colour else None)
    if as_json:
        show_json(explanation_body(found.explanation, found.origins, command=found.command), terminal)
    else:
        show_explanation(found.explanation, found.origins, terminal, command=found.command, unsound=found.unsound)
    return 0
