"""Values as they travel between engine and plugin: secrets, unknowns, and whole numbers that arrive as floats.

The signatures are Pulumi's own (sdk/go/common/resource of the engine, v3.274.1; tried 2026-11-30).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf import json_format, struct_pb2

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""Stands for a value that is not known in a preview."""
SIGNATURE = "4dabf18193072939515e22adb298388d"
"""The key that marks an object as a special value."""
SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 (a signature, not a secret)
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
DEFAULTS = "__defaults"
"""The key under which the real provider lists the properties that it filled in itself."""

Values = dict[str, Any]
_PLAIN_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def read(struct: Any) -> Values:
    """Return a message's object as it stands, with its secrets still marked."""
    return dict(json_format.MessageToDict(struct))


def write(values: Mapping[str, Any]) -> Any:
    """Return an object as a message; members that are None are left out."""
    struct = struct_pb2.Struct()
    struct.update(_without_none(values))
    return struct


def plain(value: Any) -> Any:
    """Return a value without marks of secrets, and with whole numbers as int; unknowns stay the sentinel."""
    if isinstance(value, Mapping):
        if value.get(SIGNATURE) in {SECRET, OUTPUT}:
            return plain(value["value"]) if "value" in value else UNKNOWN
        return {key: plain(member) for key, member in value.items() if key != DEFAULTS and member is not None}
    if isinstance(value, list):
        return [plain(member) for member in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def is_secret(value: Any) -> bool:
    """Whether a value is a secret or holds one."""
    if isinstance(value, Mapping):
        marked = value.get(SIGNATURE)
        if marked == SECRET or (marked == OUTPUT and value.get("secret")):
            return True
        return any(is_secret(member) for member in value.values())
    return isinstance(value, list) and any(is_secret(member) for member in value)


def has_unknown(value: Any) -> bool:
    """Whether a plain value is unknown or holds something unknown."""
    if isinstance(value, Mapping):
        return any(has_unknown(member) for member in value.values())
    if isinstance(value, list):
        return any(has_unknown(member) for member in value)
    return bool(value == UNKNOWN)


def secret(value: Any) -> Values:
    """Mark a value as a secret."""
    return {SIGNATURE: SECRET, "value": value}


def keep_secrets(outputs: Values, inputs: Mapping[str, Any]) -> Values:
    """Mark the outputs whose input of the same name is a secret, as the real provider does."""
    return {
        name: secret(value) if is_secret(inputs.get(name)) and not is_secret(value) else value
        for name, value in outputs.items()
    }


def path(parts: Iterable[str | int]) -> str:
    """Return a property path in Pulumi's form, such as `rules[0].id` or `tags["gpuprov:id"]`."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_NAME.fullmatch(part):
            text += f".{part}" if text else part
        else:
            quoted = part.replace('"', '\\"')
            text += f'["{quoted}"]'
    return text


def _without_none(value: Any) -> Any:
    """Drop members that are None: on the wire they are no members."""
    if isinstance(value, Mapping):
        return {key: _without_none(member) for key, member in value.items() if member is not None}
    if isinstance(value, (list, tuple)):
        return [_without_none(member) for member in value]
    return value
