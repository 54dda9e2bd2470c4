"""Where each final value of a spec came from: its own line, a pool's override, the spec's stack, or a default."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum

from gpuprov.model.address import join
from gpuprov.model.diagnostic import Span
from gpuprov.spec.fields import field_type
from gpuprov.spec.merge import TARGETS
from gpuprov.spec.written import LIST_SHORTHANDS, SHORTHANDS, WrittenPool, WrittenSpec

Plain = str | int | bool | list["Plain"] | dict[str, "Plain"] | None


class Layer(StrEnum):
    """What gave a value."""

    SPEC = "spec"
    """It is written at its own address."""
    OVERRIDE = "override"
    """A target's or a pool's own value, in place of one above or of a default."""
    INHERITED = "inherited"
    """A target or a pool has it from the spec, or a pool from its target."""
    DEFAULT = "default"
    """Nothing is written; the default of the field holds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """One final value."""

    address: str
    value: Plain
    layer: Layer
    span: Span | None = None
    """Where it is written; None for a default."""
    above: str = ""
    """For a value of a target's stack or of a pool: the address that it comes from, or stands in place of."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    address: str
    value: Plain
    span: Span | None


def origins(written: WrittenSpec, spans: Mapping[str, Span]) -> tuple[Origin, ...]:
    """Every final value, in the order of the type; stacks of targets and pools are whole, also where they inherit.

    Args:
        written: a sound spec, with the pools' overrides applied.
        spans: the places of what was written.
    """
    leaves = [leaf for leaf in _leaves(replace(written, pools={}), "", spans) if leaf.address != "pools"]
    base = {leaf.address: leaf.span for leaf in leaves}
    found = [_layered(leaf, _above_target(leaf.address), base) for leaf in leaves]
    for name, pool in written.pools.items():
        at = join("pools", name)
        for leaf in _leaves(_whole(pool, written), at, spans):
            key = leaf.address.removeprefix(f"{at}.")
            whole = getattr(pool, key.partition(".")[0], None) is None and key in base
            found.append(_layered(replace(leaf, span=base[key]) if whole else leaf, _above_pool(key, pool), base))
    return tuple(found)


def _whole(pool: WrittenPool, written: WrittenSpec) -> WrittenPool:
    return replace(
        pool,
        os=pool.os or written.os,
        verify=written.verify if pool.verify is None else pool.verify,
        stack=pool.stack or written.stack,
    )


def _above_target(address: str) -> tuple[str, ...]:
    """Where a value of a target's stack may come from."""
    found = [f"targets.{name}.stack." for name in TARGETS if address.startswith(f"targets.{name}.stack.")]
    return (f"stack.{address.removeprefix(found[0])}",) if found else ()


def _above_pool(key: str, pool: WrittenPool) -> tuple[str, ...]:
    """Where a value of a pool may come from, the nearest first."""
    part = key.partition(".")[0]
    if part not in {"os", "verify", "stack"}:
        return ()
    on = [name for name, there in zip(TARGETS, (pool.onprem, pool.cloud), strict=True) if there is not None]
    target = (f"targets.{on[0]}.{key}",) if part == "stack" and len(on) == 1 else ()
    return (*target, key)


def _layered(leaf: _Leaf, above: tuple[str, ...], base: Mapping[str, Span | None]) -> Origin:
    """Tell by its place whose value it is: what is inherited keeps the place where it was written."""
    span = leaf.span
    there = [address for address in above if address in base]
    if not there:
        return Origin(address=leaf.address, value=leaf.value, layer=Layer.SPEC if span else Layer.DEFAULT, span=span)
    came = [address for address in there if base[address] == span]
    # Of several addresses with one place, the last one is where it stands: a target inherits it as well.
    layer = Layer.DEFAULT if span is None else Layer.INHERITED if came else Layer.OVERRIDE
    return Origin(
        address=leaf.address, value=leaf.value, layer=layer, span=span, above=(came or there)[-1 if came else 0]
    )


def _leaves(value: object, address: str, spans: Mapping[str, Span]) -> Iterator[_Leaf]:
    if is_dataclass(value) and not isinstance(value, type):
        listed = LIST_SHORTHANDS.get(type(value).__name__, "")
        short = listed if listed and getattr(value, listed) else SHORTHANDS.get(type(value).__name__)
        for field in fields(value):
            about, at, member = field_type(field)[1], join(address, field.name), getattr(value, field.name)
            if about.not_yet:
                continue
            if field.name == short and at not in spans and address in spans:
                yield _Leaf(at, member, spans[address])
            elif member is None and about.none_word:
                yield _Leaf(at, about.none_word, spans.get(at))
            else:
                yield from _leaves(member, at, spans)
    elif isinstance(value, Mapping) and value:
        for name, member in value.items():
            yield from _leaves(member, join(address, name), spans)
    elif isinstance(value, tuple) and value and is_dataclass(value[0]):
        for index, member in enumerate(value):
            yield from _leaves(member, f"{address}[{index}]", spans)
    else:
        yield _Leaf(address, _plain(value), spans.get(address))


def _plain(value: object) -> Plain:
    if isinstance(value, tuple):
        return [_plain(member) for member in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(member) for name, member in value.items()}
    return value if isinstance(value, str | bool | int) else None
