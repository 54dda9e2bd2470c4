"""Inputs compared with the classes of the installed `pulumi_aws`: names, nesting, types and what is required.

Wire names and types are what the SDK itself uses to send a resource, so a program that passes here passes the SDK's own
serialisation. What the classes do not say ("one of", ranges, conflicts) is in `rules.json`.
"""

import collections.abc
import importlib
import inspect
import threading
import typing
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import ModuleType
from typing import Any

import pulumi
from pulumi import _types  # the SDK has no public way to ask for wire names

from gpuprov.lab.aws.plugin import wire

_LISTS = frozenset({collections.abc.Sequence, list})
_MAPS = frozenset({collections.abc.Mapping, dict})
_LOADING = threading.Lock()
"""The SDK's lazy modules break when two threads touch one for the first time (tried 2026-11-30)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """One reason why inputs are refused."""

    property: str
    """Pulumi's property path; empty for the resource as a whole."""
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceClass:
    """What the SDK knows of one resource type."""

    arguments: type
    outputs: frozenset[str]
    """Wire names of all outputs but `id`."""


def resource_class(token: str) -> ResourceClass | None:
    """Return the SDK's class of a type such as `aws:ec2/vpc:Vpc`; None when `pulumi_aws` has no such resource."""
    # The SDK warns of its own deprecated classes when a module loads; none of them is used here.
    with _LOADING, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return _load(token)


@cache
def _load(token: str) -> ResourceClass | None:
    """Find a class in the SDK, whose modules load when they are first touched."""
    package, _, rest = token.partition(":")
    place, _, name = rest.rpartition(":")
    module = _module(place.partition("/")[0]) if package == "aws" and name else None
    found = getattr(module, name, None)
    if not inspect.isclass(found) or getattr(found, "pulumi_type", None) != token:
        return None
    # Where a nested argument class has taken the name, the SDK calls the resource's own NameInitArgs.
    arguments = getattr(module, f"{name}InitArgs", None) or getattr(module, f"{name}Args")
    outputs = {
        getattr(member.fget, "_pulumi_name", label)
        for label, member in vars(found).items()
        if isinstance(member, property)
    }
    return ResourceClass(arguments=arguments, outputs=frozenset(outputs))


def check_inputs(token: str, inputs: Mapping[str, Any]) -> tuple[Refused, ...]:
    """Compare plain inputs with the SDK's class of the type; empty when they fit."""
    known = resource_class(token)
    if known is None:
        return (Refused(property="", reason=f"pulumi_aws has no resource type {token}"),)
    return tuple(_check_object(known.arguments, inputs, ()))


def check_names(arguments: type, values: Mapping[str, Any]) -> tuple[Refused, ...]:
    """Compare only the names of an object with an argument class: a provider's configuration arrives as text."""
    types, _ = fields(arguments)
    return tuple(
        Refused(property=name, reason=f"{arguments.__name__} has no such property")
        for name in sorted(values.keys() - types.keys())
    )


@cache
def _module(name: str) -> ModuleType | None:
    """Import one module of the SDK; `index` is its root."""
    try:
        return importlib.import_module("pulumi_aws" if name == "index" else f"pulumi_aws.{name}")
    except ModuleNotFoundError:
        return None


@cache
def fields(arguments: type) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the types of an argument class by wire name, and the wire names of what is required."""
    names = _types.input_type_py_to_pulumi_names(arguments)
    parameters = inspect.signature(arguments.__init__).parameters  # type: ignore[misc]
    required = {
        names[label] for label, p in parameters.items() if label in names and p.default is inspect.Parameter.empty
    }
    return dict(_types.input_type_types(arguments)), frozenset(required)


def nested(kind: Any) -> type | None:
    """Return the argument class inside a type, such as that of a list's members; None when there is none."""
    if isinstance(kind, type) and _types.is_input_type(kind):
        return kind
    inner = _choices(kind) if typing.get_origin(kind) is typing.Union else list(typing.get_args(kind))
    return next((found for each in inner if (found := nested(each)) is not None), None)


def _check_object(arguments: type, values: Mapping[str, Any], at: tuple[str | int, ...]) -> Iterator[Refused]:
    """Compare an object's members with an argument class."""
    types, required = fields(arguments)
    for name in sorted(required - {key for key, value in values.items() if value is not None}):
        yield Refused(property=wire.path((*at, name)), reason="is required but missing")
    for name, value in values.items():
        if name not in types:
            near = get_close_matches(name, types, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            yield Refused(property=wire.path((*at, name)), reason=f"{arguments.__name__} has no such property{hint}")
        else:
            yield from _check_value(types[name], value, (*at, name))


def _check_value(kind: Any, value: Any, at: tuple[str | int, ...]) -> Iterator[Refused]:
    """Compare a value with a type; None is no value and an unknown fits every type."""
    origin = typing.get_origin(kind)
    if value is None or value == wire.UNKNOWN:
        return
    if origin is typing.Union:
        yield from _check_choice(_choices(kind), value, at)
    elif isinstance(kind, type) and _types.is_input_type(kind) and isinstance(value, Mapping):
        yield from _check_object(kind, value, at)
    elif origin in _LISTS and isinstance(value, list):
        for index, member in enumerate(value):
            yield from _check_value(typing.get_args(kind)[0], member, (*at, index))
    elif origin in _MAPS and isinstance(value, Mapping):
        for key, member in value.items():
            yield from _check_value(typing.get_args(kind)[1], member, (*at, key))
    elif not _fits(kind, value):
        wanted = "list" if origin in _LISTS else "map" if origin in _MAPS else getattr(kind, "__name__", str(kind))
        yield _wrong_type(wanted, value, at)


def _choices(kind: Any) -> list[Any]:
    """Return the members of a union that a value on the wire can be: no Output, no Awaitable, no None."""
    return [
        member
        for member in typing.get_args(kind)
        if member is not type(None)
        and typing.get_origin(member) not in {collections.abc.Awaitable, pulumi.Output}
        and member is not pulumi.Output
    ]


def _check_choice(choices: Sequence[Any], value: Any, at: tuple[str | int, ...]) -> Iterator[Refused]:
    """Accept what fits any choice; otherwise report what the nearest choice says against it."""
    complaints = [list(_check_value(choice, value, at)) for choice in choices]
    if complaints and all(complaints):
        yield from max(complaints, key=lambda found: max(len(refused.property) for refused in found))


def _fits(kind: Any, value: Any) -> bool:
    """Whether a scalar is of a type; numbers on the wire are floats, whole ones were made int again."""
    if kind is typing.Any:
        return True
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if kind is float:
        return isinstance(value, (int, float))
    if kind is int:
        return isinstance(value, int)
    # The SDK's enums are open: a union with str stands beside each of them, and their values are strings.
    return isinstance(kind, type) and issubclass(kind, str) and isinstance(value, str)


def _wrong_type(wanted: str, value: Any, at: tuple[str | int, ...]) -> Refused:
    """Say what was found and what was expected."""
    found = {Mapping: "an object", list: "a list", bool: "a boolean", int: "a whole number", float: "a fraction"}
    name = next((text for kind, text in found.items() if isinstance(value, kind)), f"text {value!r:.60}")
    if isinstance(value, (bool, int, float)):
        name = f"{name} ({value})"
    return Refused(property=wire.path(at), reason=f"must be of type {wanted}, but is {name}")
