"""A lock for people: what moved, and what each pool has; the whole is in the file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rich.text import Text

from gpuprov.lock.moves import Move
from gpuprov.lock.types import Lock
from gpuprov.lock.verdict import Verdict
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.render.json_text import diagnostics_body
from gpuprov.render.terminal import Terminal

_WIDEST: Final = 48
"""Columns; a longer text pushes the rest of its own line to the right."""


def show_locked(lock: Lock, moves: Sequence[Move], path: Path, terminal: Terminal, *, written: bool) -> None:
    """Print a table of what moved and why, and a line for each pool."""
    out = terminal.out
    for line in _table(moves, several=len(lock.pools) > 1):
        out.print(line)
    for name, pool in lock.pools.items():
        driver = f"driver {pool.driver}, " if pool.driver else ""
        sources = sorted({row.source for row in pool.packages})
        out.print(
            Text.assemble(
                (name, "name"),
                f": {driver}{len(pool.packages)} packages pinned ({pool.os}, {pool.arch}; from {', '.join(sources)})",
            )
        )
    if not moves:
        out.print("nothing moved")
    out.print(f"wrote {path}" if written else f"{path}: not written")


def _table(moves: Sequence[Move], *, several: bool) -> Iterator[Text]:
    """One line a move, in columns; the pools only where there are several."""
    rows = [(move, _mark(move), _versions(move)) for move in moves]
    names = min(_WIDEST, max((len(move.name) for move in moves), default=0))
    sides = min(_WIDEST, max((len(versions) for _, _, versions in rows), default=0))
    sources = min(_WIDEST, max((len(move.source) for move in moves), default=0))
    for move, (sign, style), versions in rows:
        pools = f"  [{', '.join(move.pools)}]" if several else ""
        line = Text.assemble(
            "  ",
            (sign, style),
            f" {move.name:<{names}}  {versions:<{sides}}  ",
            (f"{move.source:<{sources}}{pools}", "quiet"),
            f"  {move.why}",
        )
        line.rstrip()
        yield line


def _mark(move: Move) -> tuple[str, str]:
    return ("+", "add") if not move.before else ("-", "remove") if not move.after else ("~", "change")


def _versions(move: Move) -> str:
    return f"{move.before} -> {move.after}" if move.before and move.after else move.after or move.before


def verdict_body(verdict: Verdict, diagnostics: Sequence[Diagnostic]) -> dict[str, object]:
    """A verdict as JSON: whether the lock is fresh, every reason with both sides, and what is newer."""
    return {
        "fresh": verdict.fresh,
        "reasons": [
            {"kind": r.kind.name.lower(), "address": r.address, "locked": r.locked, "found": r.found}
            for r in verdict.reasons
        ],
        "newer": [{"pool": n.pool, "name": n.name, "locked": n.locked, "offered": n.offered} for n in verdict.newer],
        "diagnostics": diagnostics_body(diagnostics),
    }


def lock_body(lock: Lock, moves: Sequence[Move], *, written: bool) -> dict[str, object]:
    """A lock as JSON: digest, what moved, and the pools' packages."""
    return {
        "digest": lock.digest,
        "written": written,
        "moves": [
            {
                "name": m.name,
                "pools": list(m.pools),
                "before": m.before,
                "after": m.after,
                "source": m.source,
                "why": m.why,
            }
            for m in moves
        ],
        "pools": {
            name: {
                "os": pool.os,
                "arch": pool.arch,
                "driver": pool.driver,
                "packages": [{"name": row.name, "version": row.version, "source": row.source} for row in pool.packages],
            }
            for name, pool in lock.pools.items()
        },
    }
