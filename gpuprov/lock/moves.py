"""What moved from one lock to the next, and why, for people."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gpuprov.lock.types import Lock, LockedFramework, LockedImage
from gpuprov.model.package import PackageRow

PYTHON: Final = "Python package "
"""Stands before the name of a Python package, which may be that of an OS package too."""

Why = Callable[[str, str], str]
"""The reason why a package of a pool moved: the pool's and the package's name to words."""

_DIGITS: Final = 12
"""So much of a digest is shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """One package of one or several pools, or one base image, that came, went or moved."""

    name: str
    """Of others than the OS's packages: `base image debian-12 amd64`, `Python package torch`."""
    pools: tuple[str, ...]
    before: str
    """Version, or id and name of an image; empty when it came."""
    after: str
    """Version, or empty when it went; where the version stayed, what else changed stands behind it."""
    source: str
    """Name of the package's source, or the image's region."""
    why: str = ""
    """The reason in words; empty in a first lock."""


def moves(before: Lock | None, after: Lock, why: Why | None = None) -> tuple[Move, ...]:
    """The differences of two locks, by package, then by base image; the same move of several pools is one.

    Args:
        before: the earlier lock, if there is one.
        after: the new one.
        why: gives reasons, as `Reasons.why` does; without it packages have none.
    """
    found: dict[tuple[str, str, str, str, str], list[str]] = {}
    for pool in sorted({*after.pools, *(before.pools if before else ())}):
        old, new = locked_rows(before, pool), locked_rows(after, pool)
        for name in sorted(old.keys() | new.keys()):
            was, now = old.get(name), new.get(name)
            sides = _sides(was, now)
            if sides is not None:
                there = now or was
                key = (name, *sides, there.source if there else "", why(pool, name) if why else "")
                found.setdefault(key, []).append(pool)
    packages = tuple(
        Move(name=name, pools=tuple(members), before=was, after=now, source=source, why=reason)
        for (name, was, now, source, reason), members in sorted(found.items())
    )
    return (*packages, *_image_moves(before, after))


def locked_rows(lock: Lock | None, pool: str) -> dict[str, PackageRow | LockedFramework]:
    """What a lock pins for a pool, by the name that a move has."""
    locked = lock.pools.get(pool) if lock is not None else None
    if locked is None:
        return {}
    python = locked.frameworks.packages if locked.frameworks is not None else ()
    return {row.name: row for row in locked.packages} | {PYTHON + row.name: row for row in python}


def _sides(
    was: PackageRow | LockedFramework | None, now: PackageRow | LockedFramework | None
) -> tuple[str, str] | None:
    """Both sides of a move; None where nothing moved that a host would notice."""
    if was is None or now is None:
        return (was.version if was else "", now.version if now else "")
    if was.version != now.version:
        return was.version, now.version
    if was.source != now.source:
        return f"{was.version} from {was.source}", f"{now.version} from {now.source}"
    before, after = _content(was), _content(now)
    return None if before == after else (f"{was.version} ({before})", f"{now.version} ({after})")


def _content(row: PackageRow | LockedFramework) -> str:
    if isinstance(row, PackageRow):
        return f"sha256 {row.sha256[:_DIGITS]}"
    return "files " + ", ".join(f"{wheel.filename} {wheel.sha256[:_DIGITS]}" for wheel in row.wheels)


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
                why=_image_why(was, now) if before is not None else "",
            )


def _images(lock: Lock | None) -> dict[tuple[str, str], LockedImage]:
    return {(image.os, image.arch): image for image in lock.images} if lock is not None else {}


def _image(image: LockedImage | None) -> str:
    return f"{image.id} ({image.name})" if image else ""


def _image_why(was: LockedImage | None, now: LockedImage | None) -> str:
    if was is None:
        return "a cloud pool needs it"
    if now is None:
        return "no cloud pool needs it any more"
    if was.region != now.region:
        return f"the hosts are in {now.region}"
    return "--upgrade" if was.origin == now.origin else f"the spec takes it by {now.origin or 'the OS vendor'}"
