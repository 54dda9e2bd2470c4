"""Storage that hosts mount: disks, volumes of the cloud, and shares of a server; each at the spec's place."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gpuprov.model.address import member_address
from gpuprov.model.fact import Value
from gpuprov.spec.access import AccessSpec
from gpuprov.spec.storage import LOCAL, SHARED, StorageSpec
from gpuprov.want.rights import storage_rights

FAMILY: Final = "device"
SHARES: Final = "share"
"""Family of the facts of shared storage, by place."""
NFS: Final = "nfs"
_UNITS: Final = "/etc/systemd/system/"
_OPTIONS: Final = ("nfsvers=4.1", "hard", "timeo=600", "retrans=2", "noresvport")
"""What AWS recommends for EFS, and what any server of NFS 4.1 takes: with `hard` a program waits for a server that is
gone and loses nothing (Amazon EFS User Guide, Recommended NFS mount options, read 2026-11-30). The sizes of requests
are left to client and server, which agree on the largest by themselves (nfs(5), rsize)."""
_OPPOSITES: Final = {"soft": "hard", "resvport": "noresvport", "vers": "nfsvers"}
"""Options that say the same thing in other words (nfs(5))."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MountWant:
    """One disk, volume or share that must be mounted."""

    name: str
    """Of the storage in the spec."""
    device: str
    """Path of the device, or of a link to it below /dev/disk; SERVER:EXPORT of a share."""
    place: str
    filesystem: str
    """An empty device gets it, and one that holds anything else is never touched; `nfs` for a share."""
    options: str = ""
    """Of a share."""
    rights: tuple[str, ...] = ()
    """Entries such as `group ml rwx`, where groups of the spec may use a disk; empty: whoever could before."""

    @property
    def shared(self) -> bool:
        """Whether it is a share of a server, and no disk."""
        return self.filesystem == NFS

    @property
    def unit(self) -> str:
        """Name of the systemd unit, which follows from the place (systemd.mount(5))."""
        return f"{_escaped(self.place)}.mount"

    @property
    def path(self) -> str:
        """Path of the unit's file."""
        return f"{_UNITS}{self.unit}"

    @property
    def text(self) -> str:
        """The unit's file, without our mark; a boot goes on without what is gone, and the probe tells.

        For a share systemd waits for the network by itself (systemd.mount(5), Default Dependencies).
        """
        options = f"Options={self.options}\n" if self.options else ""
        return (
            f"[Unit]\nDescription=Storage {self.name}\n\n"
            f"[Mount]\nWhat={self.device}\nWhere={self.place}\nType={self.filesystem}\n{options}\n"
            f"[Install]\nWantedBy={'remote-fs' if self.shared else 'multi-user'}.target\n"
        )


def mount_wants(
    storage: Mapping[str, StorageSpec], access: AccessSpec, pool: str, target: str, found: Mapping[str, str]
) -> tuple[MountWant, ...]:
    """What a host has mounted, by place: what is below another mount comes after it.

    Args:
        storage: the spec's.
        access: the spec's groups, and what each may do with storage.
        pool: the host's.
        target: `onprem` or `cloud`.
        found: storage -> where this host finds it, for what is made in the cloud: a device's path, or SERVER:EXPORT;
            empty for what all hosts of a pool have alike. What is made and not found is left out: it is not there yet.
    """
    rights = storage_rights(access)
    mounts = [
        replace(_mount(name, each, device), rights=rights.get(name, ()))
        for name, each in storage.items()
        if each.mount and each.serves(pool) and (device := _device(name, each, target, found))
    ]
    return tuple(sorted(mounts, key=lambda mount: mount.place))


def _device(name: str, storage: StorageSpec, target: str, found: Mapping[str, str]) -> str:
    if target == "cloud" and storage.kind != LOCAL:
        return found.get(name, "")
    return f"{storage.server}:{storage.export}" if storage.kind == SHARED else storage.device


def _mount(name: str, storage: StorageSpec, device: str) -> MountWant:
    shared = storage.kind == SHARED
    return MountWant(
        name=name,
        device=device,
        place=storage.mount,
        filesystem=NFS if shared else storage.filesystem,
        options=_options(storage.options) if shared else "",
    )


def _options(given: tuple[str, ...]) -> str:
    """Our options with the spec's; one of the spec's takes the place of ours with the same meaning."""
    named = {_OPPOSITES.get(word, word) for word in (option.partition("=")[0] for option in given)}
    return ",".join((*(option for option in _OPTIONS if option.partition("=")[0] not in named), *given))


def mount_paths(storage: Mapping[str, StorageSpec], pool: str) -> frozenset[str]:
    """Paths of the units of everything that a pool's hosts mount, also of what is not made yet."""
    return frozenset(_mount(n, each, "").path for n, each in storage.items() if each.mount and each.serves(pool))


def mount_facts(mounts: tuple[MountWant, ...]) -> Iterator[tuple[str, Value, str, str]]:
    """Address, value, comparator and origin of what is expected."""
    for mount in mounts:
        origin = f"spec: storage.{mount.name}"
        if mount.shared:
            yield member_address(SHARES, mount.place, "source"), mount.device, "equal", origin
            yield member_address(SHARES, mount.place, "type"), mount.filesystem, "equal", origin
            continue
        yield member_address(FAMILY, mount.device, "content"), mount.filesystem, "equal", origin
        yield member_address(FAMILY, mount.device, "mounts"), [mount.place], "contains", origin


def is_mount_unit(path: str) -> bool:
    """Whether a path is that of a mount's unit."""
    return path.startswith(_UNITS) and path.endswith(".mount")


def _escaped(place: str) -> str:
    """A path as systemd names its unit (systemd-escape(1), --path)."""
    words = "/".join(word for word in place.split("/") if word)
    safe = re.sub(r"[^A-Za-z0-9:_./]", lambda found: "".join(f"\\x{b:02x}" for b in found[0].encode()), words)
    return re.sub(r"^\.", r"\\x2e", safe).replace("/", "-")
