"""Every field of a spec by its address, and the field that an address of a spec names."""

import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Any, Final, Union, get_args, get_origin

from gpuprov.spec.about import About
from gpuprov.spec.written import WrittenSpec

_ANY: Final = About("")
_PART: Final = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[([0-9]+|\*)\]|\.?([^.\[\]"]+)')


@dataclass(frozen=True, kw_only=True, slots=True)
class SpecField:
    """One field."""

    address: str
    """With `*` for a name or a number that the writer chooses: `pools.*.gpu.model`, `stack.packages[*].name`."""
    name: str
    hint: Any
    """Its type."""
    about: About
    required: bool
    default: object
    """None where there is none, or where it is an empty value or mapping."""


def spec_fields() -> Iterator[SpecField]:
    """Every field of the spec, parents before their fields; what is laid over `stack` has the same fields as it."""
    yield from _fields(WrittenSpec, "")


def find_field(address: str) -> SpecField | None:
    """The field that an address names: a pattern (`pools.*.os`) or one spec's own (`pools.train.os`)."""
    parts = split_path(address)
    if not parts:
        return None
    if parts[0] in {"pools", "targets"} and parts[2:3] == ("stack",) and len(parts) > 3:  # noqa: PLR2004 - laid over it
        parts = parts[2:]
    return next((f for f in spec_fields() if _names(split_path(f.address), parts)), None)


def split_path(address: str) -> tuple[str, ...]:
    """The parts of an address: `files["/etc/motd"].mode` is files, /etc/motd and mode; empty where it is no address."""
    parts, at = [], 0
    while at < len(address):
        found = _PART.match(address, at)
        if found is None or found.end() == at:
            return ()
        parts.append(re.sub(r"\\(.)", r"\1", found[1]) if found[1] is not None else found[2] or found[3])
        at = found.end()
    return tuple(parts)


def field_type(spec_field: "Field[Any]") -> tuple[Any, About]:
    """The type of a field and what is said of it."""
    hint: Any = spec_field.type
    if not hasattr(hint, "__metadata__"):
        return hint, _ANY
    about = next((m for m in hint.__metadata__ if isinstance(m, About)), _ANY)
    return hint.__origin__, about


def is_required(spec_field: "Field[Any]") -> bool:
    """Whether the field must be written."""
    return spec_field.default is MISSING and spec_field.default_factory is MISSING


def _names(pattern: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    return len(pattern) == len(parts) and all(p in {"*", part} for p, part in zip(pattern, parts, strict=True))


def _fields(cls: type, prefix: str) -> Iterator[SpecField]:
    for spec_field in fields(cls):
        hint, about = field_type(spec_field)
        address = f"{prefix}{spec_field.name}"
        default = None if spec_field.default is MISSING or spec_field.default == () else spec_field.default
        yield SpecField(
            address=address,
            name=spec_field.name,
            hint=hint,
            about=about,
            required=is_required(spec_field),
            default=default,
        )
        if not about.over and not about.not_yet:
            yield from _below(hint, address)


def _below(hint: Any, address: str) -> Iterator[SpecField]:
    origin = get_origin(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        yield from _fields(hint, f"{address}.")
    elif origin in {types.UnionType, Union}:
        for member in get_args(hint):
            yield from _below(member, address)
    elif origin is tuple:
        yield from _below(get_args(hint)[0], f"{address}[*]")
    elif origin is Mapping:
        yield from _below(get_args(hint)[1], f"{address}.*")
