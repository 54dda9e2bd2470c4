"""`gpuprov validate`."""

from pathlib import Path

import click

from gpuprov.app.validate import Validation, validate
from gpuprov.cli.options import json_option, spec_option
from gpuprov.render.plain import show_line


@click.command("validate")
@spec_option
@click.option("--show-origin", is_flag=True, help="Show every final value, pool by pool, and where it came from.")
@json_option
def command(*, spec: Path, show_origin: bool, as_json: bool, no_colour: bool) -> int:
    """Check the spec, offline: form, names, and what can work together; all errors in one run."""
    result = validate(spec)
    if as_json or show_origin or result.diagnostics:
        _show(result, spec, show_origin=show_origin, as_json=as_json, no_colour=no_colour)
    if result.status == 0 and not as_json:
        pools = ", ".join(result.pools)
        show_line(f"{spec}: sound ({len(result.pools)} pool(s): {pools})")
    return int(result.status)


# A plain `validate` of a sound spec runs at every commit: what only the rest needs is imported by it.


def _show(result: Validation, spec: Path, *, show_origin: bool, as_json: bool, no_colour: bool) -> None:
    """What was found, and what was asked for besides."""
    from gpuprov.render.diagnostics import show_diagnostics  # noqa: PLC0415
    from gpuprov.render.json_text import diagnostics_body, show_json  # noqa: PLC0415
    from gpuprov.render.terminal import open_terminal  # noqa: PLC0415

    terminal = open_terminal(colour=False if no_colour else None)
    show_diagnostics(result.diagnostics, terminal)
    if as_json:
        body = {"status": int(result.status), "diagnostics": diagnostics_body(result.diagnostics)}
        show_json({**body, **(_origins_of(spec) if show_origin else {})}, terminal)
    elif show_origin:
        from gpuprov.app.origins import spec_origins  # noqa: PLC0415
        from gpuprov.render.origin_text import show_origins  # noqa: PLC0415

        show_origins(spec_origins(spec), terminal)


def _origins_of(spec: Path) -> dict[str, object]:
    from gpuprov.app.origins import spec_origins  # noqa: PLC0415
    from gpuprov.render.origin_text import origins_body  # noqa: PLC0415

    return {"origins": origins_body(spec_origins(spec))}
