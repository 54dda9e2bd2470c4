"""Plays a machine's hardware and its kernel: PCI devices, the loaded module, its files in /proc, /sys and /dev.

It belongs to the simulated machine, not to any package. `boot` runs once, early: it puts the GPUs on the bus and
loads the module that is on disk for the running kernel. `load` is what modprobe would do; nvidia-modprobe calls it. A
loaded module stays until the next boot, whatever apt does to the file: that is how "reboot pending" comes about.
"""

import hashlib
import json
import os
import stat
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from gpuprov.lab.vendor.standin.forms import Kit, packed
from gpuprov.lab.vendor.standin.nvml import known_to_driver

DESCRIPTION = Path("/usr/lib/lab-hardware/description.json")
STATE = Path("/run/lab-hardware")
_MOUNTS = {"proc-driver": Path("/proc/driver"), "module": Path("/sys/module"), "pci": Path("/sys/bus/pci/devices")}
_MODULES = ("nvidia", "nvidia_uvm", "nvidia_modeset")
_IDENTITY = uuid.UUID("6f1d1a0e-51b3-4c7e-9f0b-6c1e5b1f7a10")


def main() -> int:
    """Runs `lab-hardware boot`, `lab-hardware load` or `lab-hardware status`."""
    kit = packed()
    action = " ".join(sys.argv[1:])
    if action == "boot":
        boot()
        load(kit, quiet=True)
        return 0
    if action == "load":
        return load(kit, quiet=False)
    if action == "status":
        sys.stdout.write((STATE / "hardware.json").read_text())
        return 0
    sys.stderr.write("usage: lab-hardware boot|load|status\n")
    return 2


def boot() -> None:
    """Puts the described devices on the bus and lays the folders that a driver writes to over the machine's own."""
    described = json.loads(DESCRIPTION.read_text())
    hardware = with_identity(described, Path("/etc/machine-id").read_text().strip())
    for name, place in _MOUNTS.items():
        if not place.is_dir():
            raise FileNotFoundError(f"{place} is missing: this machine's kernel cannot be covered with simulated GPUs")
        folder = STATE / name
        folder.mkdir(parents=True)
        copy_shallow(place, folder)
    for device in [*hardware["switches"], *hardware["gpus"]]:
        write_pci_device(STATE / "pci" / device["bus"], device)
    (STATE / "hardware.json").write_text(json.dumps(hardware, indent=1))
    for name, place in _MOUNTS.items():
        subprocess.run(["mount", "--bind", STATE / name, place], check=True)


def load(kit: Kit, *, quiet: bool) -> int:
    """Loads the module on disk unless one is loaded; gives modprobe's status, and its message unless `quiet`."""
    if (STATE / "module/nvidia/version").exists():
        return 0
    hardware = json.loads((STATE / "hardware.json").read_text())
    kernel = os.uname().release
    version = _modinfo("version")
    if version is None:
        return 1 if quiet else _complain(kit, "nvidia-modprobe.no-module", kernel=kernel)
    if (_modinfo("vermagic") or "").split(" ")[0] != kernel:
        return 1 if quiet else _complain(kit, "nvidia-modprobe.wrong-kernel")
    if not hardware["gpus"]:
        return 1 if quiet else _complain(kit, "nvidia-modprobe.no-device")
    flavour = "open" if "GPL" in (_modinfo("license") or "") else "proprietary"
    show_driver(STATE, kit, hardware, version=version, flavour=flavour)
    for minor, name in [*((gpu["index"], f"nvidia{gpu['index']}") for gpu in hardware["gpus"]), (255, "nvidiactl")]:
        _device(Path("/dev") / name, 195, minor)
    return 0


def with_identity(described: dict[str, Any], machine_id: str) -> dict[str, Any]:
    """Gives the hardware with UUIDs and serial numbers that differ from machine to machine and stay over reboots."""
    gpus = []
    for gpu in described["gpus"]:
        name = f"{machine_id}/{gpu['bus']}"
        digits = int(hashlib.sha256(name.encode()).hexdigest(), 16) % 10**9
        gpus.append({**gpu, "uuid": f"GPU-{uuid.uuid5(_IDENTITY, name)}", "serial": f"1652{digits:09d}"})
    return {**described, "gpus": gpus}


def show_driver(state: Path, kit: Kit, hardware: dict[str, Any], *, version: str, flavour: str) -> None:
    """Writes what a loaded driver shows in /proc/driver and /sys/module."""
    proc = state / "proc-driver/nvidia"
    proc.mkdir(parents=True, exist_ok=True)
    system = os.uname()
    date = time.strftime("%a %b %e %H:%M:%S UTC %Y", time.gmtime())
    values = {"machine": system.machine, "version": version, "date": date, "builder": f"root@{system.nodename}"}
    (proc / "version").write_text(kit.text(f"proc-version.{flavour}", **values))
    for gpu in known_to_driver(hardware["gpus"], opened=flavour == "open"):
        folder = proc / "gpus" / gpu["bus"]
        folder.mkdir(parents=True, exist_ok=True)
        values = {key: str(gpu[key]) for key in ("name", "uuid", "vbios", "bus")}
        text = kit.text("proc-gpu-information", **values, minor=gpu["index"], irq=64 + gpu["index"], version=version)
        (folder / "information").write_text(text)
    for name in _MODULES:
        folder = state / "module" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "initstate").write_text("live\n")
        (folder / "refcnt").write_text("0\n")
    (state / "module/nvidia/version").write_text(version + "\n")


def write_pci_device(folder: Path, device: dict[str, Any]) -> None:
    """Writes the files of /sys/bus/pci/devices/ADDRESS that people and lspci read."""
    folder.mkdir(parents=True)
    vendor, identifier, subsystem, kind = (
        0x10DE,
        int(device["pci_device"], 16),
        int(device["subsystem"], 16),
        int(device["class"], 16),
    )
    texts = {
        "vendor": f"0x{vendor:04x}",
        "device": f"0x{identifier:04x}",
        "subsystem_vendor": f"0x{vendor:04x}",
        "subsystem_device": f"0x{subsystem:04x}",
        "class": f"0x{kind:06x}",
        "revision": "0xa1",
        "irq": "0",
        "numa_node": "0",
        "current_link_width": "16",
        "max_link_width": "16",
        "max_link_speed": "32.0 GT/s PCIe",
        "resource": "\n".join(["0x0000000000000000 0x0000000000000000 0x0000000000000000"] * 7),
    }
    for name, text in texts.items():
        (folder / name).write_text(text + "\n")
    header = bytearray(64)
    header[0:4] = vendor.to_bytes(2, "little") + identifier.to_bytes(2, "little")
    header[8] = 0xA1
    header[9:12] = kind.to_bytes(3, "little")
    header[44:48] = vendor.to_bytes(2, "little") + subsystem.to_bytes(2, "little")
    (folder / "config").write_bytes(header)


def copy_shallow(place: Path, folder: Path) -> None:
    """Makes the machine's own entries visible in the folder that will cover them: links, and folders by name."""
    for entry in place.iterdir():
        target = folder / entry.name
        if entry.is_symlink():
            target.symlink_to(entry.readlink())
        elif entry.is_dir():
            target.mkdir()
            for name in ("version", "refcnt", "initstate"):
                if (entry / name).is_file():
                    (target / name).write_text((entry / name).read_text())


def _modinfo(field: str) -> str | None:
    """Asks the node's own modinfo about the module on disk; None without a module or without such a field."""
    try:
        answer = subprocess.run(["modinfo", "-F", field, "nvidia"], check=False, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return answer.stdout.rstrip("\n") if answer.returncode == 0 and answer.stdout.strip() else None


def _device(path: Path, major: int, minor: int) -> None:
    if not path.exists():
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(major, minor))
        path.chmod(0o666)


def _complain(kit: Kit, form: str, **values: str) -> int:
    sys.stderr.write(kit.text(form, **values))
    return kit.statuses[form]
