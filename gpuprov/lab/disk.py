"""A node's disk: an overlay on a base, with the node's identity, user, network names and hardware files."""

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from gpuprov.lab.command import failure, run
from gpuprov.lab.description import LabDescription, NodeDescription
from gpuprov.lab.names import LabNames

_USER_ID = 1000
_UNIT = """\
[Unit]
Description=Writable network settings, as on a server (lab)
DefaultDependencies=no
Before=sysinit.target systemd-sysctl.service
Conflicts=shutdown.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/mount --bind /proc/sys/net /proc/sys/net
ExecStart=/bin/mount -o remount,bind,rw /proc/sys/net

[Install]
WantedBy=sysinit.target
"""
"""A node's /proc/sys is read-only; its network namespace is its own (Docker 26 sets it, tried 2026-11-30)."""
_UNIT_PLACE = "/etc/systemd/system/lab-network-settings.service"


def make_disk(description: LabDescription, node: NodeDescription, base: Path) -> Path:
    """Mount a new overlay on the base and return its root.

    Raises:
        GpuprovError: the overlay cannot be mounted.
    """
    return mount_layers(description, node.name, [base])


def mount_layers(description: LabDescription, name: str, layers: Sequence[Path]) -> Path:
    """Mount a new overlay on read-only layers, the uppermost first, and return its root.

    Raises:
        GpuprovError: the overlay cannot be mounted.
    """
    folder = LabNames(description.id).node_folder(name)
    for part in ("upper", "work", "root", "docker"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    root = folder / "root"
    lower = ":".join(map(str, layers))
    # Volatile: nothing waits until the machine's own disk has it (Linux 5.10, overlayfs.rst). A node's power cut leaves
    # what was written in the machine's memory anyway, and a node does not outlive its machine.
    options = f"lowerdir={lower},upperdir={folder / 'upper'},workdir={folder / 'work'},volatile"
    run(["mount", "-t", "overlay", f"gpl-{description.id}-{name}", "-o", options, str(root)])
    return root


def write_files(root: Path, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Write files into a node's disk, owned by its root.

    Args:
        root: the node's root on this machine.
        files: absolute path in the node -> content and mode.
    """
    for name, (content, mode) in files.items():
        place = _resolve(root, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.write_bytes(content)
        place.chmod(mode)


def identity_files(description: LabDescription, node: NodeDescription) -> dict[str, tuple[bytes, int]]:
    """Return the files that make a node itself: names, machine id, resolver."""
    others = "".join(f"{other.address} {other.name}\n" for other in description.nodes if other.name != node.name)
    hosts = f"127.0.0.1 localhost\n127.0.1.1 {node.name}\n::1 localhost ip6-localhost ip6-loopback\n{others}"
    return {
        "/etc/hostname": (f"{node.name}\n".encode(), 0o644),
        "/etc/hosts": (hosts.encode(), 0o644),
        "/etc/resolv.conf": (resolver().encode(), 0o644),
        "/etc/machine-id": (f"{secrets.token_hex(16)}\n".encode(), 0o444),
        **network_settings_unit(),
    }


def network_settings_unit() -> dict[str, tuple[bytes, int]]:
    """Return the lab's own unit, which `finish_boot_setup` enables."""
    return {_UNIT_PLACE: (_UNIT.encode(), 0o644)}


def enable_unit(root: Path, unit: str, *, target: str) -> None:
    """Let a unit of /etc/systemd/system start with a target, as `systemctl enable` does."""
    wants = _resolve(root, f"/etc/systemd/system/{target}.wants/{unit}")
    wants.parent.mkdir(parents=True, exist_ok=True)
    wants.unlink(missing_ok=True)
    wants.symlink_to(f"/etc/systemd/system/{unit}")


def finish_boot_setup(root: Path) -> None:
    """Enable the lab's own unit; mask the one that always fails where the kernel takes no modules."""
    enable_unit(root, Path(_UNIT_PLACE).name, target="sysinit.target")
    masked = _resolve(root, "/etc/systemd/system/systemd-modules-load.service")
    masked.unlink(missing_ok=True)
    masked.symlink_to("/dev/null")


def add_user(root: Path, node: NodeDescription, public_key: str) -> None:
    """Add the login user with its key and its sudo rule.

    Raises:
        GpuprovError: the password cannot be set.
    """
    user, number = node.user, _USER_ID
    _append(root, "/etc/passwd", f"{user}:x:{number}:{number}::/home/{user}:/bin/bash\n")
    _append(root, "/etc/group", f"{user}:x:{number}:\n")
    _append(root, "/etc/shadow", f"{user}:*:20000:0:99999:7:::\n")
    _append(root, "/etc/gshadow", f"{user}:!::\n")
    home = root / "home" / user
    (home / ".ssh").mkdir(parents=True)
    keys = home / ".ssh" / "authorized_keys"
    keys.write_text(public_key, encoding="ascii")
    for place, mode in ((home, 0o755), (home / ".ssh", 0o700), (keys, 0o600)):
        place.chmod(mode)
        os.chown(place, number, number)
    allowed = "ALL" if node.sudo_password else "NOPASSWD: ALL"
    write_files(root, {f"/etc/sudoers.d/90-{user}": (f"{user} ALL=(ALL:ALL) {allowed}\n".encode(), 0o440)})
    if node.sudo_password:
        run(
            ["chroot", str(root), "chpasswd"], stdin=f"{user}:{node.sudo_password}\n", doing="setting the sudo password"
        )


def resolver(files: tuple[str, ...] = ("/etc/resolv.conf", "/run/systemd/resolve/resolv.conf")) -> str:
    """Return a resolv.conf for a node: the first of the machine's that names a server which a node can reach.

    Args:
        files: where to look; a stub on 127.0.0.0/8 serves the machine only, and is passed over.
    """
    for name in files:
        place = Path(name)
        lines = place.read_text(encoding="utf-8").splitlines() if place.exists() else []
        kept = [line for line in lines if not line.startswith("nameserver 127.")]
        if any(line.startswith("nameserver ") for line in kept):
            return "\n".join(kept) + "\n"
    return "# The machine's only name server is its own; names cannot be resolved here.\n"


def _append(root: Path, name: str, line: str) -> None:
    """Append to a text file of the node, keeping its mode and owner."""
    with _resolve(root, name).open("a", encoding="utf-8") as file:
        file.write(line)


def _resolve(root: Path, name: str) -> Path:
    """Find a node's path on this machine; follows the links of merged /usr, never out of the root.

    Raises:
        GpuprovError: the path leads out of the node's disk, or is no absolute path.
    """
    place = root / name.lstrip("/")
    parent = place.parent.resolve()
    if not name.startswith("/") or not parent.is_relative_to(root.resolve()):
        raise failure(f"the path {name} leads out of the node's disk")
    return parent / place.name
