"""A want as it is kept on a host, and back: any release of gpuprov must be able to want it again."""

import json
from dataclasses import asdict, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

from gpuprov.document.canonical import digest
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.want.types import HostWant

_CODE: Final = "GP-BACK-003"


class _OddError(ValueError):
    """A value that is not of the field's type."""


def want_text(want: HostWant) -> str:
    """Write a want as it is kept on its host."""
    return json.dumps(asdict(want), sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def read_want(text: str, host: str) -> HostWant:
    """Read what `want_text` wrote.

    Args:
        text: the kept document.
        host: where it was kept.

    Raises:
        GpuprovError: GP-BACK-003 when it is broken, was changed by hand, or holds what this release does not know: a
            field that is passed over would be a want that is not met.
    """
    try:
        body = json.loads(text)
        want = _read(HostWant, body, "want")
    except ValueError as error:
        hint = "use the release of gpuprov that wrote it, or go back to another run with --to"
        raise GpuprovError(_refusal(host, f"the kept want cannot be read: {error}", hint)) from error
    assert isinstance(want, HostWant)  # noqa: S101 - for the type checker
    if digest({**body["pool"], "digest": ""}) != want.pool.digest:
        raise GpuprovError(
            _refusal(host, "the kept want was changed: its digest does not fit", "go back to another run with --to")
        )
    return want


def _refusal(host: str, summary: str, hint: str) -> Diagnostic:
    return Diagnostic(code=_CODE, address=host, summary=summary, hint=hint)


def _read(kind: Any, value: Any, path: str) -> Any:
    if is_dataclass(kind):
        return _record(kind, value, path)
    if isinstance(kind, UnionType):
        members = [member for member in get_args(kind) if member is not NoneType]
        return None if value is None else _read(members[0], value, path)
    if get_origin(kind) is tuple:
        return _list(get_args(kind), value, path)
    if get_origin(kind) is not None:  # a mapping
        return _mapping(get_args(kind), value, path)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if type(value) is not kind:
        raise _OddError(f"{path} is a {type(value).__name__}, expected {getattr(kind, '__name__', kind)}")
    return value


def _record(kind: Any, value: Any, path: str) -> Any:
    if not isinstance(value, dict):
        raise _OddError(f"{path} is a {type(value).__name__}, expected an object")
    hints = get_type_hints(kind)
    known = [field.name for field in fields(kind)]
    strange = sorted(set(value) - set(known))
    if strange:
        raise _OddError(f"{path} has a field that this release does not know: {', '.join(strange)}")
    given = {name: _read(hints[name], value[name], f"{path}.{name}") for name in known if name in value}
    try:
        return kind(**given)
    except TypeError as error:  # a field without a default is missing
        raise _OddError(f"{path}: {error}") from error


def _list(kinds: tuple[Any, ...], value: Any, path: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _OddError(f"{path} is a {type(value).__name__}, expected a list")
    if kinds[-1] is not Ellipsis and len(kinds) != len(value):
        raise _OddError(f"{path} has {len(value)} members, expected {len(kinds)}")
    members = [kinds[0]] * len(value) if kinds[-1] is Ellipsis else list(kinds)
    return tuple(_read(kind, each, f"{path}[{n}]") for n, (kind, each) in enumerate(zip(members, value, strict=True)))


def _mapping(kinds: tuple[Any, ...], value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _OddError(f"{path} is a {type(value).__name__}, expected an object")
    return {str(key): _read(kinds[1], each, f"{path}.{key}") for key, each in value.items()}
