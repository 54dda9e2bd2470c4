"""Checks of storage: what each kind of it may say, and where it may be mounted."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Final

from gpuprov.model.address import join
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.storage import LOCAL, SHARED, VOLUME, StorageSpec
from gpuprov.spec.suggest import did_you_mean
from gpuprov.spec.written import WrittenSpec

_SYSTEM: Final = frozenset(
    {"/", "/bin", "/boot", "/etc", "/lib", "/lib64", "/root", "/sbin", "/tmp", "/usr", "/var", "/var/lib", "/var/tmp"}  # noqa: S108
)
_KERNEL: Final = ("/dev", "/proc", "/run", "/sys")
"""Places whose content the running system makes; a mount over them hides it."""
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "device": (LOCAL,),
    "filesystem": (LOCAL, VOLUME),
    "pools": (LOCAL, SHARED, "object"),
    "server": (SHARED,),
    "export": (SHARED,),
    "options": (SHARED,),
    "service": (SHARED,),
}
"""Field -> kinds of storage that have it."""
_EFS_VERSIONS: Final = frozenset({"4", "4.0", "4.1"})
"""Amazon EFS User Guide, Considerations for NFS clients: NFSv4.0 and NFSv4.1 (read 2026-11-30)."""
_DEFAULTS: Final = {field.name: field.default for field in fields(StorageSpec)}
_WORDS: Final = {LOCAL: "a local disk", SHARED: "shared storage"}


def local_problems(spec: WrittenSpec) -> Iterator[Diagnostic]:
    """Everything that is wrong with storage that hosts mount, and with its fields where it is of another kind."""
    for name, storage in spec.storage.items():
        yield from _fields(name, storage)
        if storage.kind in _WORDS:
            yield from _whole(name, storage)
        if storage.kind == SHARED:
            yield from _server(name, storage, spec)
        yield from _place(name, storage)
    yield from _twice(spec, "device")
    yield from _twice(spec, "mount")
    for name, storage in spec.storage.items():
        for index, pool in enumerate(storage.pools):
            if storage.kind in _KINDS["pools"] and pool not in spec.pools:
                yield _wrong(
                    f"{join('storage', name)}.pools[{index}]",
                    f"there is no pool {pool}; pools: {', '.join(spec.pools)}",
                    did_you_mean(pool, list(spec.pools)) or "name a pool of the spec",
                )


def _whole(name: str, storage: StorageSpec) -> Iterator[Diagnostic]:
    at, what = join("storage", name), _WORDS[storage.kind]
    needed = {"device": "/dev/disk/by-id/...", "mount": f"/{name}"}
    for field in ("device", "mount") if storage.kind == LOCAL else ("mount",):
        if not getattr(storage, field):
            yield _missing(f"{at}.{field}", f"{what.removeprefix('a ')} {name} has no {field}", field, needed[field])
    if storage.device and storage.kind == LOCAL and not storage.device.startswith("/dev/"):
        yield _wrong(
            f"{at}.device", f"{storage.device} is no device", "name one below /dev, best below /dev/disk/by-id"
        )
    for field in ("size", "prefixes", "write"):
        if getattr(storage, field) != _DEFAULTS[field]:
            yield _wrong(f"{at}.{field}", f"{what} has no `{field}`", f"take `{field}` away")
            return


def _server(name: str, storage: StorageSpec, spec: WrittenSpec) -> Iterator[Diagnostic]:
    """Hosts of the rack mount what a server exports; those of the cloud what is made there."""
    at = join("storage", name)
    racked = any(pool.onprem is not None and storage.serves(who) for who, pool in spec.pools.items())
    for field, example in (("server", "nfs.example"), ("export", f"/srv/{name}")):
        value = getattr(storage, field)
        if racked and not value:
            yield _missing(
                f"{at}.{field}", f"shared storage {name} has no {field} for hosts of the rack", field, example
            )
        elif value and not racked:
            what = f"no host of the rack mounts {name}: the cloud's hosts get a file system of AWS"
            yield _wrong(f"{at}.{field}", what, f"take `{field}` away, or name a pool with `onprem` in `pools`")
    clouded = any(pool.cloud is not None and storage.serves(who) for who, pool in spec.pools.items())
    for index, option in enumerate(storage.options):
        word, _, version = option.partition("=")
        if clouded and word in {"nfsvers", "vers"} and version not in _EFS_VERSIONS:
            what = f"the cloud's hosts mount {name} from EFS, which speaks NFS 4.0 and 4.1 alone"
            yield _wrong(f"{at}.options[{index}]", what, f"take `{option}` away, or use another storage in the cloud")


def _fields(name: str, storage: StorageSpec) -> Iterator[Diagnostic]:
    """What only other kinds have."""
    at = join("storage", name)
    for field, kinds in _KINDS.items():
        if storage.kind in kinds or getattr(storage, field) == _DEFAULTS[field]:
            continue
        only = " or ".join(f"`kind: {kind}`" for kind in kinds)
        yield _wrong(
            f"{at}.{field}", f"a storage of kind {storage.kind} has no `{field}`", f"take it away; {only} has it"
        )
    if storage.kind == VOLUME and not storage.mount and storage.filesystem != _DEFAULTS["filesystem"]:
        what = "a volume that is not mounted is not formatted either"
        yield _wrong(f"{at}.filesystem", what, f"take `filesystem` away, or write `mount: /{name}`")


def _place(name: str, storage: StorageSpec) -> Iterator[Diagnostic]:
    at = f"{join('storage', name)}.mount"
    if storage.kind == "object" and storage.mount:
        yield Diagnostic(
            code="GP-SPEC-006",
            summary="mounting a storage of kind object is built by a later release",
            address=at,
            hint="take `mount` away; programs reach the bucket by S3's own API",
        )
        return
    place = storage.mount.rstrip("/") or storage.mount
    if place in _SYSTEM or any(place == kept or place.startswith(f"{kept}/") for kept in _KERNEL):
        yield _wrong(at, f"{place} belongs to the system", "choose a place such as /scratch or /data")


def _twice(spec: WrittenSpec, field: str) -> Iterator[Diagnostic]:
    seen: dict[str, list[StorageSpec]] = {}
    for name, storage in spec.storage.items():
        value = str(getattr(storage, field)).rstrip("/")
        others = seen.setdefault(value, [])
        if value and any(_hosts(storage, spec) & _hosts(other, spec) for other in others):
            at = f"{join('storage', name)}.{field}"
            yield _wrong(at, f"{value} is named twice for the same hosts", "name it once, or for different pools")
        others.append(storage)


def _hosts(storage: StorageSpec, spec: WrittenSpec) -> set[tuple[str, str]]:
    """Pools and targets whose hosts mount it."""
    return {
        (name, target)
        for name, pool in spec.pools.items()
        for target, there in (("onprem", pool.onprem), ("cloud", pool.cloud))
        if there is not None and storage.serves(name) and (storage.kind != VOLUME or target == "cloud")
    }


def _missing(at: str, summary: str, field: str, example: Any) -> Diagnostic:
    return Diagnostic(code="GP-SPEC-004", summary=summary, address=at, hint=f"write `{field}: {example}`")


def _wrong(at: str, summary: str, hint: str) -> Diagnostic:
    return Diagnostic(code="GP-SPEC-005", summary=summary, address=at, hint=hint)
