"""What moved from one lock to the next, for people."""

from collections.abc import Iterator
from dataclasses import dataclass

from gpuprov.lock.types import Lock, LockedImage


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """One package of one or several pools, or one base image, that came, went or moved."""

    name: str
    """Of others than the OS's packages: `base image debian-12 amd64`, `Python package torch`."""
    pools: tuple[str, ...]
    before: str
    """Version, or id and name of an image; empty when it came."""
    after: str
    """Version, or empty when it went."""
    source: str
    """Name of the package's source, or the image's region."""


def moves(before: Lock | None, after: Lock) -> tuple[Move, ...]:
    """The differences of two locks, by package, then by base image; the same move of several pools is one."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    pools = {*after.pools, *(before.pools if before else ())}
    for pool in sorted(pools):
        old = _versions(before, pool)
        new = _versions(after, pool)
        for name in sorted(old.keys() | new.keys()):
            was, now = old.get(name, ("", "")), new.get(name, ("", ""))
            if was[0] != now[0]:
                found.setdefault((name, was[0], now[0], now[1] or was[1]), []).append(pool)
    packages = tuple(
        Move(name=name, pools=tuple(members), before=was, after=now, source=source)
        for (name, was, now, source), members in sorted(found.items())
    )
    return (*packages, *_image_moves(before, after))


def _image_moves(before: Lock | None, after: Lock) -> Iterator[Move]:
    old, new = _images(before), _images(after)
    for os, arch in sorted(old.keys() | new.keys()):
        was, now = old.get((os, arch)), new.get((os, arch))
        there = now or was
        if there is not None and (was is None or now is None or (was.id, was.region) != (now.id, now.region)):
            locks = (after, before) if now else (before,)
            pools = {name for lock in locks if lock for name, p in lock.pools.items() if (p.os, p.arch) == (os, arch)}
            yield Move(
                name=f"base image {os} {arch}",
                pools=tuple(sorted(pools)),
                before=_image(was),
                after=_image(now),
                source=there.region,
            )


def _images(lock: Lock | None) -> dict[tuple[str, str], LockedImage]:
    return {(image.os, image.arch): image for image in lock.images} if lock is not None else {}


def _image(image: LockedImage | None) -> str:
    return f"{image.id} ({image.name})" if image else ""


def _versions(lock: Lock | None, pool: str) -> dict[str, tuple[str, str]]:
    if lock is None or pool not in lock.pools:
        return {}
    locked = lock.pools[pool]
    python = locked.frameworks.packages if locked.frameworks is not None else ()
    return {row.name: (row.version, row.source) for row in locked.packages} | {
        f"Python package {row.name}": (row.version, row.source) for row in python
    }
