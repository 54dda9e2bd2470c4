"""From what a handler reads to what the engine keeps: outputs, and the inputs that stand for them."""

from collections.abc import Mapping
from typing import Any

from gpuprov.lab.aws.plugin import compare, schema, table, wire

Values = dict[str, Any]


def outputs(token: str, found: Values, known: Mapping[str, Any]) -> Values:
    """Complete what was read with the provider's own arguments, which AWS does not keep.

    Args:
        token: the resource's type.
        found: what the handler read.
        known: plain inputs or outputs of the state.

    Raises:
        KeyError: the handler shows something that the SDK's class does not have.
    """
    kept = {
        name: known[name] for name, row in table.properties(token).items() if row.local and known.get(name) is not None
    }
    complete = {**found, **kept}
    resource = schema.resource_class(token)
    if resource is None or (strange := complete.keys() - resource.outputs):
        raise KeyError(f"{token} has no outputs {sorted(strange) if resource else 'at all'}")
    return complete


def inputs(token: str, found: Mapping[str, Any], known: Mapping[str, Any]) -> Values:
    """Return the inputs that describe a resource as it was read.

    Args:
        token: the resource's type.
        found: its outputs, plain.
        known: the inputs that the state holds, with their marks; empty for an import.
    """
    rows = table.properties(token)
    if not known:
        return {name: found[name] for name in rows if found.get(name) not in (None, "", [], {}) and "." not in name}
    plain = wire.plain(known)
    taken = {name: _take(token, (name,), plain[name], found.get(name)) for name in plain}
    kept: Values = {wire.DEFAULTS: known[wire.DEFAULTS]} if wire.DEFAULTS in known else {}
    # A text that means the same stays as the program gave it, with its secret mark.
    return kept | {
        name: known[name] if compare.same(rows.get(name), plain[name], value) else value
        for name, value in taken.items()
        if value is not None
    }


def preview(token: str, checked: Mapping[str, Any]) -> Values:
    """Return the outputs of a resource that is only planned: its inputs, and unknown for everything else."""
    resource = schema.resource_class(token)
    names = resource.outputs if resource else frozenset()
    given = {name: value for name, value in checked.items() if name != wire.DEFAULTS}
    return {name: given.get(name, wire.UNKNOWN) for name in names}


def _take(token: str, at: tuple[str, ...], known: Any, found: Any) -> Any:
    """Return what was found, in nested objects only the members that the program gives."""
    row = table.properties(token).get(".".join(at))
    if row is not None and row.local and found is None:
        return known
    if isinstance(known, Mapping) and isinstance(found, Mapping) and at[-1] not in {"tags", "volumeTags"}:
        return {name: _take(token, (*at, name), known[name], found.get(name)) for name in known}
    if isinstance(known, list) and isinstance(found, list) and len(known) == len(found):
        if row is not None and row.set and compare.same(row, known, found):
            return known
        return [_take(token, (*at, "[]"), old, new) for old, new in zip(known, found, strict=True)]
    return found
