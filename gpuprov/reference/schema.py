"""The JSON schema of the spec, from its types: editors check a spec while it is written."""

import json
import types
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any, Final, Union, get_args, get_origin

from gpuprov.document.envelope import API_VERSION
from gpuprov.document.node import MappingNode, Node, SequenceNode
from gpuprov.document.yaml_text import parse_yaml
from gpuprov.spec.about import About
from gpuprov.spec.fields import field_type, is_required
from gpuprov.spec.scalars import CHECKS
from gpuprov.spec.written import LIST_SHORTHANDS, SHORTHANDS, WrittenSpec

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def spec_schema() -> Schema:
    """The schema of a spec, version 1.

    It refuses what a key, a type or a pattern can show; what needs the catalog or two fields is `gpuprov validate`'s.
    """
    schema = _object(WrittenSpec)
    schema["properties"]["apiVersion"]["const"] = API_VERSION
    return {"$schema": DIALECT, "title": "gpuprov spec", **schema}


def schema_text() -> str:
    """The schema as the text of a file."""
    return json.dumps(spec_schema(), indent=2, ensure_ascii=False) + "\n"


def _object(cls: type) -> Schema:
    schema: Schema = {
        "type": "object",
        "description": (cls.__doc__ or "").strip(),
        "additionalProperties": False,
        "properties": {spec_field.name: _field(spec_field) for spec_field in fields(cls)},
    }
    required = [f.name for f in fields(cls) if is_required(f)]
    return {**schema, "required": required} if required else schema


def _field(spec_field: "Field[Any]") -> Schema:
    hint, about = field_type(spec_field)
    schema = _without_required(_hint(hint, about)) if about.over else _hint(hint, about)
    schema["description"] = about.text if not about.not_yet else f"{about.text} {about.not_yet}"
    if isinstance(spec_field.default, str | bool | int) and spec_field.default != "":
        schema["default"] = spec_field.default
    if about.example:
        schema["examples"] = [_plain(parse_yaml(about.example, "example"))]
    return schema


def _without_required(schema: Schema) -> Schema:
    """The schema of a mapping that is laid over another: parts may be left out; a list takes the place of the other."""
    loose: Schema = {}
    for key, value in schema.items():
        if key == "properties":
            loose[key] = {name: _without_required(part) for name, part in value.items()}
        elif key in {"anyOf", "additionalProperties"} and value is not False:
            loose[key] = [_without_required(part) for part in value] if key == "anyOf" else _without_required(value)
        elif key != "required":
            loose[key] = value
    return loose


def _plain(node: Node) -> object:
    """An example as JSON."""
    if isinstance(node, MappingNode):
        return {entry.key.text: _plain(entry.value) for entry in node.entries}
    if isinstance(node, SequenceNode):
        return [_plain(item) for item in node.items]
    return int(node.text) if node.tag == "int" else None if node.is_null else node.text


def _hint(hint: Any, about: About) -> Schema:
    if about.not_yet:
        return {"enum": [None, [], {}, *about.nothing]}
    origin = get_origin(hint)
    if origin in {types.UnionType, Union}:
        return _optional(hint, about)
    if is_dataclass(hint) and isinstance(hint, type):
        return _value(hint)
    if origin is tuple:
        item = _hint(get_args(hint)[0], about)
        members = {"type": "array", "items": item}
        return {"anyOf": [item, members]} if about.single else members
    if origin is Mapping:
        names = {"pattern": f"^{CHECKS[about.key].pattern}$"} if CHECKS[about.key].pattern else {"minLength": 1}
        return {
            "type": "object",
            "propertyNames": names,
            "additionalProperties": _hint(get_args(hint)[1], About("", check=about.check)),
        }
    return _scalar(hint, about)


def _optional(hint: Any, about: About) -> Schema:
    inner = next(member for member in get_args(hint) if member is not type(None))
    none: Schema = {"const": about.none_word} if about.none_word else {"type": "null"}
    return {"anyOf": [_hint(inner, about), none]} if about.null else _hint(inner, about)


def _value(cls: type) -> Schema:
    shorts = {table.get(cls.__name__) for table in (SHORTHANDS, LIST_SHORTHANDS)}
    plain = [_hint(*field_type(f)) for f in fields(cls) if f.name in shorts]
    return {"anyOf": [*plain, _object(cls)]} if plain else _object(cls)


def _scalar(hint: Any, about: About) -> Schema:
    if hint is bool:
        return {"type": "boolean"}
    if hint is int:
        return {"type": "integer", "minimum": about.minimum, "maximum": about.maximum}
    if about.choices:
        return {"enum": [choice for choice in about.choices if choice not in about.later]}
    check = CHECKS[about.check]
    schema: Schema = {"type": ["string", "integer"] if "int" in check.tags else "string"}
    if check.pattern:
        schema["pattern"] = f"^({check.pattern})$"
    if about.check == "date":
        schema["format"] = "date"
    return schema
