"""`gpuprov config`."""

import click

from gpuprov.app.config import configure
from gpuprov.cli.options import json_option
from gpuprov.cli.settings import Asked
from gpuprov.render.config_text import configuration_body, show_configuration
from gpuprov.render.json_text import show_json
from gpuprov.render.terminal import open_terminal


@click.command("config")
@json_option
@click.pass_obj
def command(asked: Asked, *, as_json: bool, no_colour: bool) -> int:
    """Show the settings of gpuprov itself, never of the stack, and where each comes from.

    A flag before the command wins over a variable, a variable over the user's file: gpuprov/config.yaml in
    $XDG_CONFIG_HOME, else in ~/.config, with `name: value` in each line.
    """
    found = configure(asked.flags, asked.environment)
    terminal = open_terminal(colour=False if no_colour else None)
    if as_json:
        show_json(configuration_body(found), terminal)
    else:
        show_configuration(found, terminal)
    return 0
