"""An instance as a node of the lab: its disk over several layers, its devices, and its end."""

import json
import secrets
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from gpuprov.lab import cgroup, disk
from gpuprov.lab.aws import vpcs
from gpuprov.lab.command import failure
from gpuprov.lab.description import LabDescription, NodeDescription
from gpuprov.lab.names import LabNames
from gpuprov.lab.node import DEVICES, Node
from gpuprov.lab.removal import remove_machine_folders, unmount

USER = "admin"
"""The login user of Debian's images on EC2 (AWS's EC2 User Guide, "Manage system users": for Debian it is admin)."""


def cloud_node(lab: LabDescription, instance_id: str, folder: Path) -> Node:
    """Return the way into an instance: power, console, programs inside it.

    Args:
        lab: the lab.
        instance_id: the instance; it is the node's name on this machine, the system calls itself otherwise.
        folder: where the person's files are.
    """
    link = vpcs.find_link(lab, instance_id)
    address = "" if link is None else link.public_address or link.private_address
    description = NodeDescription(name=instance_id, os=lab.nodes[0].os, address=address, group="cloud", user=USER)
    return Node(lab=lab, description=description, folder=folder)


def make_instance_disk(
    lab: LabDescription, instance_id: str, layers: Sequence[Path], files: Mapping[str, tuple[bytes, int]]
) -> Path:
    """Make and mount the disk of an instance, with all that must be there before its first boot.

    Args:
        lab: the lab.
        instance_id: the instance.
        layers: read-only folders, the uppermost first: for an image of the lab, what it adds, then the cloud base.
        files: more files, or others in place of the common ones: absolute path in the instance -> content and mode.

    Returns:
        The root of the mounted disk. What the instance writes is in `upper` beside it.

    Raises:
        GpuprovError: it cannot be mounted, or a path leads out of it; nothing is left of it then.
    """
    folder = LabNames(lab.id).node_folder(instance_id)
    if folder.exists():
        raise failure(f"the instance {instance_id} has a disk already", address=f"lab {lab.id}")
    try:
        root = disk.mount_layers(lab, instance_id, layers)
        disk.write_files(root, {**identity_files(), **files})
        disk.finish_boot_setup(root)
    except BaseException:
        _remove_disk(lab, instance_id)
        raise
    return root


def identity_files() -> dict[str, tuple[bytes, int]]:
    """Return what makes an instance itself, as far as cloud-init does not: machine id, resolver (DHCP's on EC2)."""
    return {
        "/etc/resolv.conf": (disk.resolver().encode(), 0o644),
        "/etc/machine-id": (f"{secrets.token_hex(16)}\n".encode(), 0o444),
        **disk.network_settings_unit(),
    }


def set_devices(lab: LabDescription, instance_id: str, devices: Mapping[str, str]) -> None:
    """Say which block devices of this machine the instance has from its next boot on.

    Args:
        lab: the lab.
        instance_id: the instance; its disk is there.
        devices: device of this machine -> its name in the instance, as "/dev/loop3" -> "/dev/nvme1n1". The machine's
            own name is there too: the kernel's list of file systems goes by it.
    """
    vpcs.write_json(LabNames(lab.id).node_folder(instance_id) / DEVICES, dict(devices))


def read_devices(lab: LabDescription, instance_id: str) -> dict[str, str]:
    """Return the block devices of an instance, as `set_devices` has them."""
    place = LabNames(lab.id).node_folder(instance_id) / DEVICES
    found: dict[str, str] = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    return found


def remove_instance(lab: LabDescription, instance_id: str) -> None:
    """Cut an instance's power and remove its disk; its link is `network.remove_instance_link`'s.

    Raises:
        GpuprovError: something resists.
    """
    cloud_node(lab, instance_id, Path()).power_off()
    cgroup.remove(LabNames(lab.id).node_cgroup(instance_id))
    _remove_disk(lab, instance_id)


def _remove_disk(lab: LabDescription, instance_id: str) -> None:
    """Unmount and remove an instance's disk, with what systemd-nspawn keeps of its machine."""
    names = LabNames(lab.id)
    folder = names.node_folder(instance_id)
    unmount(folder / "root")
    if folder.exists():
        shutil.rmtree(folder)
    remove_machine_folders(names.machine(instance_id))
