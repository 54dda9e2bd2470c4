"""Suggestions for a word that is not known: the nearest known one, or where in the spec such a key belongs."""

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin

from gpuprov.spec.written import WrittenSpec


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """`did you mean ...?` with the known words that begin so, or the nearest one; empty when none is near."""
    begins = [name for name in known if len(word) > 1 and name.lower().startswith(word.lower())]
    if begins:
        return f"did you mean {' or '.join(begins[:3])}?"
    from difflib import get_close_matches  # noqa: PLC0415 - only needed on the way out, and slow to import

    near = get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else ""


def elsewhere(key: str) -> str:
    """Say where in a spec a key of this name belongs; empty when there is no such key."""
    places = [address for address in addresses(WrittenSpec) if address.rpartition(".")[2] == key]
    return f"{key} belongs to {' or '.join(places)}" if places else ""


def addresses(cls: type, prefix: str = "") -> Iterator[str]:
    """Every address of a type, with `*` for names."""
    for spec_field in fields(cls):
        address = f"{prefix}{spec_field.name}"
        yield address
        hint = getattr(spec_field.type, "__origin__", spec_field.type)
        yield from _below(hint, address)


def _below(hint: Any, address: str) -> Iterator[str]:
    origin = get_origin(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        yield from addresses(hint, f"{address}.")
    elif origin in {types.UnionType, Union}:
        for member in get_args(hint):
            yield from _below(member, address)
    elif origin is tuple:
        yield from _below(get_args(hint)[0], f"{address}[*]")
    elif origin is Mapping:
        yield from _below(get_args(hint)[1], f"{address}.*")
