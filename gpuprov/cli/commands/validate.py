"""`gpuprov validate`."""

from pathlib import Path

import click

from gpuprov.app.validate import validate
from gpuprov.cli.options import json_option, spec_option
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import diagnostics_body, show_json
from gpuprov.render.terminal import Terminal, open_terminal


@click.command("validate")
@spec_option
@click.option("--show-origin", is_flag=True, help="Show every final value, pool by pool, and where it came from.")
@json_option
def command(*, spec: Path, show_origin: bool, as_json: bool, no_colour: bool) -> int:
    """Check the spec, offline: form, names, and what can work together; all errors in one run."""
    result = validate(spec)
    terminal = open_terminal(colour=False if no_colour else None)
    show_diagnostics(result.diagnostics, terminal)
    if as_json:
        body = {"status": int(result.status), "diagnostics": diagnostics_body(result.diagnostics)}
        show_json({**body, **(_origins_of(spec) if show_origin else {})}, terminal)
        return int(result.status)
    if show_origin:
        _show_origins_of(spec, terminal)
    if result.status == 0:
        pools = ", ".join(result.pools)
        terminal.out.print(f"{spec}: sound ({len(result.pools)} pool(s): {pools})")
    return int(result.status)


# What only --show-origin needs is imported by it: a plain `validate` runs at every commit.


def _origins_of(spec: Path) -> dict[str, object]:
    from gpuprov.app.origins import spec_origins  # noqa: PLC0415
    from gpuprov.render.origin_text import origins_body  # noqa: PLC0415

    return {"origins": origins_body(spec_origins(spec))}


def _show_origins_of(spec: Path, terminal: Terminal) -> None:
    from gpuprov.app.origins import spec_origins  # noqa: PLC0415
    from gpuprov.render.origin_text import show_origins  # noqa: PLC0415

    show_origins(spec_origins(spec), terminal)
