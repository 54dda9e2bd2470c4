"""Where each final value of a spec came from: its own line, a pool's override, the spec's stack, or a default."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum

from gpuprov.model.diagnostic import Span
from gpuprov.spec.fields import field_type
from gpuprov.spec.tree import join
from gpuprov.spec.written import SHORTHANDS, WrittenPool, WrittenSpec

Plain = str | int | bool | list["Plain"] | dict[str, "Plain"] | None


class Layer(StrEnum):
    """What gave a value."""

    SPEC = "spec"
    """It is written at its own address."""
    OVERRIDE = "override"
    """A pool's own value, in place of the spec's or of a default."""
    INHERITED = "inherited"
    """A pool has it from the spec."""
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
    """For a pool's value: the spec's address that it comes from, or stands in place of."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    address: str
    value: Plain
    span: Span | None


def origins(written: WrittenSpec, spans: Mapping[str, Span]) -> tuple[Origin, ...]:
    """Every final value, in the order of the type; a pool's stack and verify are whole, also where it inherits them.

    Args:
        written: a sound spec, with the pools' overrides applied.
        spans: the places of what was written.
    """
    top = replace(written, pools={})
    leaves = [leaf for leaf in _leaves(top, "", spans) if leaf.address != "pools"]
    base = {leaf.address: leaf.span for leaf in leaves}
    found = [_own(leaf) for leaf in leaves]
    for name, pool in written.pools.items():
        at = join("pools", name)
        found += [_of_pool(leaf, at, base) for leaf in _leaves(_whole(pool, written), at, spans)]
    return tuple(found)


def _own(leaf: _Leaf) -> Origin:
    layer = Layer.SPEC if leaf.span else Layer.DEFAULT
    return Origin(address=leaf.address, value=leaf.value, layer=layer, span=leaf.span)


def _whole(pool: WrittenPool, written: WrittenSpec) -> WrittenPool:
    return replace(
        pool,
        os=pool.os or written.os,
        verify=written.verify if pool.verify is None else pool.verify,
        stack=pool.stack or written.stack,
    )


def _of_pool(leaf: _Leaf, at: str, base: Mapping[str, Span | None]) -> Origin:
    above = leaf.address.removeprefix(f"{at}.")
    if above.partition(".")[0] not in {"os", "verify", "stack"}:
        return _own(leaf)
    inherited = base.get(above)
    if leaf.span is not None and leaf.span != inherited:
        return Origin(address=leaf.address, value=leaf.value, layer=Layer.OVERRIDE, span=leaf.span, above=above)
    layer = Layer.INHERITED if inherited else Layer.DEFAULT
    return Origin(address=leaf.address, value=leaf.value, layer=layer, span=inherited, above=above)


def _leaves(value: object, address: str, spans: Mapping[str, Span]) -> Iterator[_Leaf]:
    if is_dataclass(value) and not isinstance(value, type):
        short = SHORTHANDS.get(type(value).__name__)
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
