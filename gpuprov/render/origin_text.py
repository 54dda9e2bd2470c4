"""Origins of a spec's values: one line each, with the place to change it."""

import json
from collections.abc import Sequence

from rich.text import Text

from gpuprov.render.terminal import Terminal
from gpuprov.spec.origin import Layer, Origin


def show_origins(origins: Sequence[Origin], terminal: Terminal) -> None:
    """Print address, value and origin in columns on stdout."""
    width = max((len(origin.address) for origin in origins), default=0)
    values = {origin.address: value_text(origin) for origin in origins}
    column = min(max((len(value) for value in values.values()), default=0), _VALUE)
    for origin in origins:
        line = Text(f"{origin.address.ljust(width)}  {values[origin.address].ljust(column)}  ")
        line.append(origin_text(origin), style="quiet" if origin.layer is Layer.DEFAULT else "place")
        terminal.out.print(line)


def value_text(origin: Origin) -> str:
    """A value as one could write it: JSON, which YAML reads the same."""
    text = json.dumps(origin.value, ensure_ascii=False)
    return text if len(text) <= _VALUE else f"{text[: _VALUE - 3]}..."


def origin_text(origin: Origin) -> str:
    """Where a value came from: `gpuprov.yaml:6:9`, `default`, `gpuprov.yaml:6:9, inherited from stack.cuda`."""
    place = f"{origin.span.file}:{origin.span.line}:{origin.span.column}" if origin.span else "default"
    words = {Layer.INHERITED: f", inherited from {origin.above}", Layer.OVERRIDE: f", in place of {origin.above}"}
    return place + words.get(origin.layer, "")


def origins_body(origins: Sequence[Origin]) -> list[dict[str, object]]:
    """Origins as JSON values."""
    return [
        {
            "address": origin.address,
            "value": origin.value,
            "layer": str(origin.layer),
            "file": origin.span.file if origin.span else None,
            "line": origin.span.line if origin.span else None,
            "column": origin.span.column if origin.span else None,
            "above": origin.above,
        }
        for origin in origins
    ]


_VALUE = 48
"""Characters of a value that are shown."""
