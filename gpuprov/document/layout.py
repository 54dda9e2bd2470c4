"""JSON text that people can read in a diff: rows of a list stand on one line each, everything else is indented."""

import json
from typing import Final

_ROW_DEPTH: Final = 2
"""A list's member with at most this depth of nesting stands on one line."""
_LINE: Final = 100
"""A list or mapping of plain values up to this many characters stands on one line."""


def json_text(value: object) -> str:
    """Write a value as indented JSON with a last line break; keys keep their order."""
    return _write(value, "") + "\n"


def _write(value: object, indent: str) -> str:
    if not isinstance(value, dict | list | tuple) or not value:
        return _line(value)
    if _depth(value) == 1 and len(line := _line(value)) <= _LINE:
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{inner}{_line(key)}: {_write(member, inner)}" for key, member in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    parts = [inner + (_line(member) if _depth(member) <= _ROW_DEPTH else _write(member, inner)) for member in value]
    return "[\n" + ",\n".join(parts) + f"\n{indent}]"


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max((_depth(member) for member in value.values()), default=0)
    if isinstance(value, list | tuple):
        return 1 + max((_depth(member) for member in value), default=0)
    return 0
