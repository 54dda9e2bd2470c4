"""Reads options the way the real programs do: `--name value` and `--name=value`."""

from collections.abc import Sequence


def option(arguments: Sequence[str], *names: str, default: str = "") -> str:
    """Gives the value of the last of these options, `default` when none is there or none has a value."""
    found = default
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in names and equals:
            found = value
        elif argument in names and place + 1 < len(arguments):
            found = arguments[place + 1]
    return found


def has(arguments: Sequence[str], *names: str) -> bool:
    """Tells whether one of these flags is there."""
    return any(argument in names for argument in arguments)
