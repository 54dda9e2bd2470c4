"""How `stop` and `start` end."""

from gpuprov.app.power import Power
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import diagnostics_body, show_json
from gpuprov.render.power_text import power_body, show_power
from gpuprov.render.terminal import Terminal


def end_power(result: Power, terminal: Terminal, *, as_json: bool) -> int:
    """Show the hosts as they are now; returns the exit status."""
    show_diagnostics(result.diagnostics, terminal)
    if as_json:
        body = {
            "status": int(result.status),
            "hosts": power_body(result.hosts),
            "diagnostics": diagnostics_body(result.diagnostics),
        }
        show_json(body, terminal)
    else:
        show_power(result.hosts, terminal)
    return int(result.status)
