"""The instances of a stack, for people and for programs."""

from dataclasses import asdict

from rich.text import Text

from gpuprov.model.cloud_view import CloudHost, CloudView
from gpuprov.render.ages import age_text
from gpuprov.render.cost_text import spent_text
from gpuprov.render.terminal import Terminal


def show_cloud_view(view: CloudView, terminal: Terminal) -> None:
    """Print one line an instance, and what all of them have cost."""
    width = max((len(host.name) for host in view.hosts), default=0)
    for host in view.hosts:
        terminal.out.print(Text.assemble("  ", (host.name.ljust(width), "name"), f"  {_line(host)}"))
    if view.hosts:
        terminal.out.print(Text.assemble(("cost", "name"), f": {spent_text(view.spent)}"))


def cloud_view_body(view: CloudView) -> dict[str, object]:
    """The same as JSON; seconds and dollars are numbers."""
    return {
        "hosts": [asdict(host) for host in view.hosts],
        "spent_usd": round(view.spent.usd, 2),
        "spent_unknown": view.spent.unknown,
    }


def _line(host: CloudHost) -> str:
    age = f" for {age_text(host.seconds)}" if host.seconds is not None else ""
    bought = "" if host.bought == "on-demand" else f" ({host.bought})"
    return f"{host.state}{age}, {host.type}{bought} in {host.zone}, {host.instance} from {host.image}"
