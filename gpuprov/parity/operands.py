"""Operands: what a word on parity's command line means."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpuprov.model.diagnostic import Diagnostic

_SUFFIXES: Final = (".yaml", ".yml", ".json", ".lock")


class OperandKind(StrEnum):
    """What an operand can be."""

    FILE = "file"
    HOST = "host"
    POOL = "pool"
    TARGET = "target"


@dataclass(frozen=True, kw_only=True, slots=True)
class Operand:
    """An operand with its one meaning."""

    kind: OperandKind
    name: str
    """Path, or name without its prefix."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownNames:
    """The names that operands may have."""

    hosts: frozenset[str] = frozenset()
    pools: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset({"onprem", "cloud"})
    any_host: bool = False
    """Without an inventory: any other word is a host, as ssh would take it."""

    def of(self, kind: OperandKind) -> frozenset[str]:
        """The names of one kind."""
        names = {OperandKind.HOST: self.hosts, OperandKind.POOL: self.pools, OperandKind.TARGET: self.targets}
        return names.get(kind, frozenset())


_NAMED: Final = (OperandKind.HOST, OperandKind.POOL, OperandKind.TARGET)


def read_operand(text: str, known: KnownNames) -> Operand | Diagnostic:
    """Say what an operand means.

    A word with a `/` or with a document's ending is a file or folder; `host:x`, `pool:x` and `target:x` are what they
    say; a bare word is what it names, if that is one thing.

    Returns:
        The operand, or the diagnostic: GP-PAR-001 when it means two things, GP-PAR-002 when it means nothing.
    """
    if "/" in text or text.endswith(_SUFFIXES):
        return Operand(kind=OperandKind.FILE, name=text)
    prefix, colon, name = text.partition(":")
    if colon and prefix in _NAMED:
        return _prefixed(OperandKind(prefix), name, known)
    meanings = [Operand(kind=kind, name=text) for kind in _NAMED if text in known.of(kind)]
    if len(meanings) == 1:
        return meanings[0]
    if meanings:
        return _ambiguous(text, meanings)
    if known.any_host and text:
        return Operand(kind=OperandKind.HOST, name=text)
    return _unknown(text, known)


def _prefixed(kind: OperandKind, name: str, known: KnownNames) -> Operand | Diagnostic:
    if name in known.of(kind) or (kind is OperandKind.HOST and known.any_host and name):
        return Operand(kind=kind, name=name)
    return Diagnostic(
        code="GP-PAR-002",
        summary=f"there is no {kind.value} `{name}`",
        address=f"{kind.value}:{name}",
        detail=_listed(f"known {kind.value}s", known.of(kind)),
        hint=_nearest(name, known.of(kind)),
    )


def _ambiguous(text: str, meanings: list[Operand]) -> Diagnostic:
    names = [f"{operand.kind.value}:{operand.name}" for operand in meanings]
    return Diagnostic(
        code="GP-PAR-001",
        summary=f"`{text}` means {len(names)} things: {', '.join(names)}",
        address=text,
        hint=f"write {' or '.join(f'`{name}`' for name in names)}",
    )


def _unknown(text: str, known: KnownNames) -> Diagnostic:
    names = [name for kind in _NAMED for name in known.of(kind)]
    lists = [_listed(f"{kind.value}s", known.of(kind)) for kind in _NAMED if known.of(kind)]
    return Diagnostic(
        code="GP-PAR-002",
        summary=f"`{text}` is no host, pool or target",
        address=text,
        detail="\n".join(lists),
        hint=_nearest(text, names) or f"for a file write `./{text}`",
    )


def _listed(what: str, names: Iterable[str]) -> str:
    return f"{what}: {', '.join(sorted(names)) or 'none'}"


def _nearest(text: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(text, sorted(names), n=1)
    return f"did you mean `{near[0]}`?" if near else ""
