"""What moved from one lock to the next, for people."""

from dataclasses import dataclass

from gpuprov.lock.types import Lock


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """One package of one or several pools that came, went or moved."""

    name: str
    pools: tuple[str, ...]
    before: str
    """Version, or empty when it came."""
    after: str
    """Version, or empty when it went."""
    source: str


def moves(before: Lock | None, after: Lock) -> tuple[Move, ...]:
    """The differences of two locks, by package; the same move of several pools is one."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    pools = {*after.pools, *(before.pools if before else ())}
    for pool in sorted(pools):
        old = _versions(before, pool)
        new = _versions(after, pool)
        for name in sorted(old.keys() | new.keys()):
            was, now = old.get(name, ("", "")), new.get(name, ("", ""))
            if was[0] != now[0]:
                found.setdefault((name, was[0], now[0], now[1] or was[1]), []).append(pool)
    return tuple(
        Move(name=name, pools=tuple(members), before=was, after=now, source=source)
        for (name, was, now, source), members in sorted(found.items())
    )


def _versions(lock: Lock | None, pool: str) -> dict[str, tuple[str, str]]:
    if lock is None or pool not in lock.pools:
        return {}
    return {row.name: (row.version, row.source) for row in lock.pools[pool].packages}
