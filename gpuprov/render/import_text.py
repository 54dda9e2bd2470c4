"""What `import` would take in, and took in, for people and for programs."""

from collections.abc import Sequence

from rich.text import Text

from gpuprov.cloud.importing import Import
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.resource import ResourceChange
from gpuprov.render.json_text import diagnostics_body
from gpuprov.render.terminal import Terminal


def show_importing(found: Sequence[Import], changes: Sequence[ResourceChange], terminal: Terminal) -> None:
    """Print each resource, and below it what of it would be changed to fit the spec."""
    said = {change.address: change.changes for change in changes}
    for one in found:
        terminal.out.print(Text.assemble("  ", ("=", "name"), f" {one.address}  {one.id}"))
        for line in said.get(one.address, ()):
            terminal.out.print(Text.assemble("      ", ("~", "change"), f" {line}"))


def imported_body(
    found: Sequence[Import],
    changes: Sequence[ResourceChange],
    diagnostics: Sequence[Diagnostic],
    *,
    done: bool,
) -> dict[str, object]:
    """The same as JSON."""
    said = {change.address: list(change.changes) for change in changes}
    return {
        "resources": [
            {"address": one.address, "type": one.type, "id": one.id, "changes": said.get(one.address, [])}
            for one in found
        ],
        "done": done,
        "diagnostics": diagnostics_body(diagnostics),
    }
