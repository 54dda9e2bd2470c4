"""Checks of local disks: what each kind of storage may say, and where a disk may be mounted."""

from collections.abc import Iterator, Mapping
from typing import Final

from gpuprov.model.address import join
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.storage import StorageSpec
from gpuprov.spec.suggest import did_you_mean
from gpuprov.spec.written import WrittenSpec

LOCAL: Final = "local"
_SYSTEM: Final = frozenset(
    {"/", "/bin", "/boot", "/etc", "/lib", "/lib64", "/root", "/sbin", "/tmp", "/usr", "/var", "/var/lib", "/var/tmp"}  # noqa: S108
)
_KERNEL: Final = ("/dev", "/proc", "/run", "/sys")
"""Places whose content the running system makes; a disk over them hides it."""


def local_problems(spec: WrittenSpec) -> Iterator[Diagnostic]:
    """Everything that is wrong with local disks, and with their fields where the storage is no such disk."""
    local = {name: storage for name, storage in spec.storage.items() if storage.kind == LOCAL}
    for name, storage in spec.storage.items():
        yield from _whole(name, storage) if name in local else _foreign(name, storage)
    for what in ("device", "mount"):
        yield from _twice(local, what)
    for name, storage in local.items():
        for index, pool in enumerate(storage.pools):
            if pool not in spec.pools:
                yield _wrong(
                    f"{join('storage', name)}.pools[{index}]",
                    f"there is no pool {pool}; pools: {', '.join(spec.pools)}",
                    did_you_mean(pool, list(spec.pools)) or "name a pool of the spec",
                )


def _whole(name: str, storage: StorageSpec) -> Iterator[Diagnostic]:
    at = join("storage", name)
    for field, value, example in (
        ("device", storage.device, "/dev/disk/by-id/..."),
        ("mount", storage.mount, f"/{name}"),
    ):
        if not value:
            yield Diagnostic(
                code="GP-SPEC-004",
                summary=f"the local disk {name} has no {field}",
                address=f"{at}.{field}",
                hint=f"write `{field}: {example}`",
            )
    if storage.device and not storage.device.startswith("/dev/"):
        yield _wrong(
            f"{at}.device", f"{storage.device} is no device", "name one below /dev, best below /dev/disk/by-id"
        )
    place = storage.mount.rstrip("/") or storage.mount
    if place in _SYSTEM or any(place == kept or place.startswith(f"{kept}/") for kept in _KERNEL):
        yield _wrong(f"{at}.mount", f"{place} belongs to the system", "choose a place such as /scratch or /data")
    if storage.size or storage.prefixes or not storage.write:
        field = "size" if storage.size else "prefixes" if storage.prefixes else "write"
        yield _wrong(f"{at}.{field}", f"a local disk has no `{field}`", f"take `{field}` away")


def _foreign(name: str, storage: StorageSpec) -> Iterator[Diagnostic]:
    at = join("storage", name)
    if storage.mount:
        yield Diagnostic(
            code="GP-SPEC-006",
            summary=f"mounting a storage of kind {storage.kind} is built by a later release",
            address=f"{at}.mount",
            hint="take `mount` away; only `kind: local` is mounted",
        )
    for field, there in (
        ("device", bool(storage.device)),
        ("filesystem", storage.filesystem != StorageSpec(kind=LOCAL).filesystem),
        ("pools", bool(storage.pools)),
    ):
        if there:
            yield _wrong(f"{at}.{field}", f"only a local disk has `{field}`", f"take it away, or write `kind: {LOCAL}`")


def _twice(local: Mapping[str, StorageSpec], field: str) -> Iterator[Diagnostic]:
    seen: dict[str, list[StorageSpec]] = {}
    for name, storage in local.items():
        value = str(getattr(storage, field)).rstrip("/")
        others = seen.setdefault(value, [])
        if value and any(_together(storage, other) for other in others):
            at = f"{join('storage', name)}.{field}"
            yield _wrong(at, f"{value} is named twice for the same hosts", "name it once, or for different pools")
        others.append(storage)


def _together(one: StorageSpec, other: StorageSpec) -> bool:
    return not one.pools or not other.pools or bool(set(one.pools) & set(other.pools))


def _wrong(at: str, summary: str, hint: str) -> Diagnostic:
    return Diagnostic(code="GP-SPEC-005", summary=summary, address=at, hint=hint)
