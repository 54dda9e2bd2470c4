"""Volumes: a sparse file each, a loop device while it is attached, a device file inside the node."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from gpuprov.lab.command import run

_GIB = 1024**3
_BY_ID = "/dev/disk/by-id"
_DEVICES = """\
set -e
mkdir -p /dev/disk/by-id
[ -b "$1" ] || mknod -m 660 "$1" b "$4" "$5"
[ -b "$2" ] || mknod -m 660 "$2" b "$4" "$5"
ln -sfn "../../${1##*/}" "$3"
"""
"""A volume in a node: the name that Nitro gives it, the kernel's own (UUID= is found by that one), and udev's link."""
_VANISH = """\
import contextlib, ctypes, os, sys
for name in sys.argv[1:]:
    while ctypes.CDLL(None).umount2(name.encode(), 2) == 0:
        pass
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name)
"""
"""Removes device files, also those that nspawn bound when the node booted. The system call, not umount(8): that would
unmount the file system that is on the device. 2 is MNT_DETACH."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """An attached volume."""

    volume_id: str
    number: int
    """The N of /dev/nvmeNn1: 0 is the root, the others in the order in which they were attached."""
    loop: Path
    """The machine's loop device."""

    @property
    def path(self) -> str:
        """The name inside the instance."""
        return f"/dev/nvme{self.number}n1"

    @property
    def link(self) -> str:
        """The name by volume, as udev makes it on EC2."""
        return f"{_BY_ID}/nvme-Amazon_Elastic_Block_Store_{self.volume_id.replace('-', '')}"

    def appear_argv(self) -> list[str]:
        """Return the command that makes the device files inside the node; again and again does no harm."""
        rdev = self.loop.stat().st_rdev
        numbers = [str(os.major(rdev)), str(os.minor(rdev))]
        return ["sh", "-c", _DEVICES, "sh", self.path, str(self.loop), self.link, *numbers]

    def vanish_argv(self) -> list[str]:
        """Return the command that removes them."""
        return ["python3", "-c", _VANISH, self.link, self.path, str(self.loop)]


@dataclass(slots=True)
class VolumeStore:
    """The files and loop devices of a lab's volumes.

    Args:
        folder: where the files are.
    """

    folder: Path
    _devices: dict[str, dict[str, Device]] = field(default_factory=dict)
    """Instance id -> volume id -> device."""

    def file(self, volume_id: str) -> Path:
        """Where a volume's bytes are."""
        return self.folder / f"{volume_id}.img"

    def attach(self, instance_id: str, volume_id: str, *, gib: int) -> Device:
        """Give an attached volume its loop device; the file is made when it was never attached before.

        Raises:
            GpuprovError: there is no free loop device.
        """
        self.resize(volume_id, gib=gib)
        devices = self._devices.setdefault(instance_id, {})
        taken = {device.number for device in devices.values()}
        number = next(n for n in range(1, len(taken) + 2) if n not in taken)
        loop = run(["losetup", "--find", "--show", str(self.file(volume_id))]).strip()
        devices[volume_id] = Device(volume_id=volume_id, number=number, loop=Path(loop))
        return devices[volume_id]

    def detach(self, instance_id: str, volume_id: str) -> Device | None:
        """Free a volume's loop device; a busy one goes when its last user has gone. None when it had none."""
        device = self._devices.get(instance_id, {}).pop(volume_id, None)
        if device is not None:
            run(["losetup", "--detach", str(device.loop)])
        return device

    def devices(self, instance_id: str) -> tuple[Device, ...]:
        """Return an instance's volumes by number."""
        return tuple(sorted(self._devices.get(instance_id, {}).values(), key=lambda device: device.number))

    def resize(self, volume_id: str, *, gib: int) -> None:
        """Make a volume's file this large, in GiB, and tell its loop device; holes take no room."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.file(volume_id).open("ab") as file:
            if file.tell() < gib * _GIB:
                file.truncate(gib * _GIB)
        for devices in self._devices.values():
            if volume_id in devices:
                run(["losetup", "--set-capacity", str(devices[volume_id].loop)])

    def copy(self, volume_id: str, to: str) -> None:
        """Copy a volume's bytes to another name; nothing to do for one that was never attached."""
        if self.file(volume_id).exists():
            run(["cp", "--sparse=always", str(self.file(volume_id)), str(self.file(to))], timeout=600)

    def delete(self, volume_id: str) -> None:
        """Remove a volume's bytes."""
        self.file(volume_id).unlink(missing_ok=True)
