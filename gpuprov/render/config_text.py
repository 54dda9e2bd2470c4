"""The settings of gpuprov itself, for people and for programs."""

from rich.text import Text

from gpuprov.render.terminal import Terminal
from gpuprov.store.setting_table import Configuration, Resolved


def show_configuration(configuration: Configuration, terminal: Terminal) -> None:
    """Print each setting with its value, where it came from, and what it is."""
    names = max(len(found.setting.name) for found in configuration.settings)
    values = max(len(_value(found)) for found in configuration.settings)
    for found in configuration.settings:
        line = Text(f"{found.setting.name.ljust(names)}  {_value(found).ljust(values)}  ")
        line.append(found.place or "default", style="place" if found.place else "quiet")
        terminal.out.print(line)
    ways = (
        "each by its flag before the command (--probe-timeout), its variable (GPUPROV_PROBE_TIMEOUT) or the user's file"
    )
    terminal.out.print(Text(ways, style="quiet"))
    there = "" if configuration.there else " (there is none)"
    terminal.out.print(Text(f"user's file: {configuration.file}{there}", style="quiet"))
    for name in configuration.strangers:
        terminal.err.print(Text(f"{name} is set, and no setting has this variable", style="warning"))


def configuration_body(configuration: Configuration) -> dict[str, object]:
    """The settings as JSON values."""
    return {
        "file": str(configuration.file),
        "file_exists": configuration.there,
        "settings": [
            {
                "name": found.setting.name,
                "value": found.value,
                "layer": found.layer,
                "place": found.place,
                "flag": found.setting.flag,
                "variable": found.setting.variable,
                "text": found.setting.text,
                "expected": found.setting.expected,
                "default": found.setting.default,
            }
            for found in configuration.settings
        ],
        "strangers": list(configuration.strangers),
    }


def _value(found: Resolved) -> str:
    return found.value or f"({found.setting.default})"
