"""A lock for people: what moved, and what each pool has; the whole is in the file."""

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from gpuprov.lock.moves import Move
from gpuprov.lock.types import Lock
from gpuprov.render.terminal import Terminal


def show_locked(lock: Lock, moves: Sequence[Move], path: Path, terminal: Terminal, *, written: bool) -> None:
    """Print what moved and a line for each pool."""
    out = terminal.out
    for move in moves:
        out.print(_move_line(move))
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


def _move_line(move: Move) -> Text:
    pools = f"  [{', '.join(move.pools)}]"
    if not move.before:
        return Text.assemble("  ", ("+", "add"), f" {move.name} {move.after}", (f"  {move.source}{pools}", "quiet"))
    if not move.after:
        return Text.assemble("  ", ("-", "remove"), f" {move.name} {move.before}", (pools, "quiet"))
    return Text.assemble(
        "  ", ("~", "change"), f" {move.name} {move.before} -> {move.after}", (f"  {move.source}{pools}", "quiet")
    )


def lock_body(lock: Lock, moves: Sequence[Move], *, written: bool) -> dict[str, object]:
    """A lock as JSON: digest, what moved, and the pools' packages."""
    return {
        "digest": lock.digest,
        "written": written,
        "moves": [
            {"name": m.name, "pools": list(m.pools), "before": m.before, "after": m.after, "source": m.source}
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
