"""Disks of the hosts that the spec names: where each is mounted, and with which file system."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gpuprov.model.address import member_address
from gpuprov.model.fact import Value
from gpuprov.spec.storage import StorageSpec

FAMILY: Final = "device"
_UNITS: Final = "/etc/systemd/system/"


@dataclass(frozen=True, kw_only=True, slots=True)
class MountWant:
    """One disk that must be mounted."""

    name: str
    """Of the storage in the spec."""
    device: str
    """Path of the device, or of a link to it below /dev/disk."""
    place: str
    filesystem: str
    """An empty device gets it; one that holds anything else is never touched."""

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
        """The unit's file, without our mark; a boot goes on without a disk that is gone, and the probe tells."""
        return (
            f"[Unit]\nDescription=Storage {self.name}\n\n"
            f"[Mount]\nWhat={self.device}\nWhere={self.place}\nType={self.filesystem}\n\n"
            "[Install]\nWantedBy=multi-user.target\n"
        )


def mount_wants(storage: Mapping[str, StorageSpec], pool: str) -> tuple[MountWant, ...]:
    """The disks that a pool's hosts have mounted, by place: what is below another mount comes after it."""
    found = [
        MountWant(name=name, device=each.device, place=each.mount, filesystem=each.filesystem)
        for name, each in storage.items()
        if each.kind == "local" and (not each.pools or pool in each.pools)
    ]
    return tuple(sorted(found, key=lambda mount: mount.place))


def mount_facts(mounts: tuple[MountWant, ...]) -> Iterator[tuple[str, Value, str, str]]:
    """Address, value, comparator and origin of what is expected."""
    for mount in mounts:
        origin = f"spec: storage.{mount.name}"
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
