"""Cloud hosts that are switched off or on: before the question, and after."""

from collections.abc import Sequence

from rich.text import Text

from gpuprov.model.power import PowerHost
from gpuprov.render.terminal import Terminal


def show_stopping(hosts: Sequence[PowerHost], terminal: Terminal) -> None:
    """Print which hosts would be stopped, and what goes before and with that."""
    for host in hosts:
        parts = [f"work goes off first, by {host.drained}"] if host.drained else []
        parts += ["what is on its local disks is lost"] if host.loses else []
        tail = f": {'; '.join(parts)}" if parts else ""
        terminal.out.print(
            Text.assemble("  ", ("-", "remove"), " stop     ", (host.name, "name"), f" ({host.pool}){tail}")
        )


def show_power(hosts: Sequence[PowerHost], terminal: Terminal) -> None:
    """Print the state of each host."""
    width = max((len(host.name) for host in hosts), default=0)
    for host in hosts:
        terminal.out.print(Text.assemble((host.name.ljust(width), "name"), f"  {host.pool}  {host.state}"))


def power_body(hosts: Sequence[PowerHost]) -> list[dict[str, object]]:
    """The hosts as JSON."""
    return [{"host": host.name, "pool": host.pool, "instance": host.instance, "state": host.state} for host in hosts]
