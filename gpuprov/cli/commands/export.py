"""`gpuprov export`: ansible."""

from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.export import export_ansible
from gpuprov.cli.options import access_options, json_option, spec_option
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import diagnostics_body, show_json
from gpuprov.render.terminal import open_terminal


@click.group("export")
def command() -> None:
    """Write what other tools can bring hosts to the lock with."""


@command.command("ansible")
@click.argument("folder", type=click.Path(path_type=Path))
@spec_option
@access_options
@json_option
def ansible(*, folder: Path, spec: Path, access: Access, as_json: bool, no_colour: bool) -> int:
    """Write a FOLDER for plain ansible-playbook, or AWX: inventory, variables, playbooks, settings.

    It brings racked hosts to the same packages, files and services as `up`. What `up` does beyond the play it does not:
    no look before, no drain, no reboot, no proof, no removal of what the spec dropped, no journal. No host is looked
    at, and no password is written.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    exported = export_ansible(spec, access, folder)
    show_diagnostics(exported.diagnostics, terminal)
    if as_json:
        body = {
            "folder": str(exported.folder),
            "hosts": list(exported.hosts),
            "diagnostics": diagnostics_body(exported.diagnostics),
        }
        show_json(body, terminal)
    else:
        terminal.out.print(f"{exported.folder}: {len(exported.hosts)} host(s)")
        terminal.out.print(f"cd {exported.folder} && ansible-playbook playbooks/site.yml")
    return 0
