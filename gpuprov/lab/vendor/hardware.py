"""The files that make a lab node a machine with GPUs: an early unit that plays hardware and kernel.

How it behaves, and why. The unit starts before the basic system and shows, as loaded, the module that is on disk for
the running kernel, because that is what a real boot does. After that the loaded module stays as it is. When none is
loaded, `nvidia-modprobe` (the vendor's own program, called by nvidia-persistenced and by nvidia-smi as root) has it
loaded, as on a real machine; so a first installation needs no reboot, and an upgrade leaves the old module loaded
until the next boot. `modprobe nvidia` itself is the node's own program and fails: the lab's kernel has no modules.
dmesg shows nothing of the driver: the kernel log is the machine's. nvidia-persistenced's package starts its daemon
before the module is installed, as the vendor's does, so after a first installation the unit is failed until somebody
starts it, or until the next boot.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from gpuprov.lab.description import GpuDescription
from gpuprov.lab.vendor.payload import program

_ROWS = Path(__file__).parent / "gpus.yaml"
FAULTS = {
    "gpu-missing": "the last GPU, or gpu-missing:N the GPU N, is not on the bus",
    "gpu-lost": "the last GPU, or gpu-lost:N the GPU N, fell off the bus (XID 79): listed, out of the driver's reach",
    "xid": "xid:CODE shows that XID error on the first GPU, xid:CODE:N on the GPU N",
    "fabric-stuck": "Fabric Manager runs, and the fabric stays in progress",
}
"""The faults that a description may name, and what they show."""

_BUSES = (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF, 0x2B, 0x35, 0x6C, 0x7A, 0xAB, 0xB7, 0xE4, 0xF1)
"""PCI buses of the GPUs: the first eight as on a real 8x H100 board (index id 66445594161), the rest free numbers."""
_FIRST_SWITCH_BUS = 0x07
_UNIT = """\
[Unit]
Description=Simulated hardware of the gpuprov lab (GPUs on the bus, the driver's kernel module)
DefaultDependencies=no
After=systemd-remount-fs.service systemd-tmpfiles-setup-dev.service
Before=sysinit.target shutdown.target
Conflicts=shutdown.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/lib/lab-hardware/lab-hardware boot
"""
_WANTS = "[Unit]\nWants=lab-hardware.service\n"


def hardware_files(gpu: GpuDescription | None) -> dict[str, tuple[bytes, int]]:
    """Gives the files to put into a node before its first boot: absolute path -> content and mode.

    Args:
        gpu: the node's GPUs; None for a node without any, on which nothing is ever loaded.

    Raises:
        ValueError: a GPU, a count or a fault that the lab cannot show.
    """
    description = json.dumps(describe(gpu), indent=1) + "\n"
    application = program(
        "lab_hardware", form_prefixes=("proc-version", "proc-gpu-information", "nvidia-modprobe"), data={}
    )
    return {
        "/usr/lib/lab-hardware/lab-hardware": (application, 0o755),
        "/usr/lib/lab-hardware/description.json": (description.encode(), 0o644),
        "/etc/systemd/system/lab-hardware.service": (_UNIT.encode(), 0o644),
        "/etc/systemd/system/sysinit.target.d/lab-hardware.conf": (_WANTS.encode(), 0o644),
    }


def describe(gpu: GpuDescription | None) -> dict[str, Any]:
    """Gives the hardware as the node's unit reads it; the unit adds UUIDs and serial numbers, from the machine's id."""
    if gpu is None:
        return {"gpus": [], "switches": [], "faults": []}
    row = _rows().get(gpu.pci_device)
    if row is None:
        raise ValueError(f"{gpu.model}: the lab has no row for the PCI device {gpu.pci_device!r} in {_ROWS.name}")
    if not 1 <= gpu.count <= len(_BUSES):
        raise ValueError(f"{gpu.model}: {gpu.count} GPUs; a lab node has 1 to {len(_BUSES)}")
    faults = [_fault(text, gpu.count) for text in gpu.faults]
    missing = {index for name, _, index in faults if name == "gpu-missing"}
    lost = {index for name, _, index in faults if name == "gpu-lost"}
    xids = {index: code for name, code, index in faults if name == "xid"} | dict.fromkeys(lost, 79)
    present = [index for index in range(gpu.count) if index not in missing]
    gpus = [
        {
            "index": number,
            "name": gpu.nvml_name,
            "bus": f"0000:{_BUSES[index]:02x}:00.0",
            "pci_device": gpu.pci_device,
            "subsystem": "16c1" if gpu.pci_device == "2330" else "0000",
            "class": "030200",
            "vbios": row["vbios"],
            "memory_mib": gpu.memory_mib,
            "power_limit_w": row["power_limit_w"],
            "compute_cap": row["compute_cap"],
            "architecture": row["architecture"],
            "requires": row.get("requires", ""),
            "mig": bool(row.get("mig", False)),
            "nvlink": gpu.nvswitch,
            "lost": index in lost,
            "xid": xids.get(index, 0),
        }
        for number, index in enumerate(present)
    ]
    switches = _switches(gpu, row) if gpu.nvswitch else []
    return {"gpus": gpus, "switches": switches, "faults": [name for name, _, _ in faults]}


def _switches(gpu: GpuDescription, row: dict[str, Any]) -> list[dict[str, str]]:
    if "switch" not in row:
        raise ValueError(f"{gpu.model}: the lab knows no NVSwitch device for boards with this GPU")
    return [
        {
            "bus": f"0000:{_FIRST_SWITCH_BUS + number:02x}:00.0",
            "pci_device": row["switch"],
            "subsystem": "1796",
            "class": "068000",
        }
        for number in range(row["switches"])
    ]


def _fault(text: str, count: int) -> tuple[str, int, int]:
    """Gives name, code (of `xid`) and GPU of a fault."""
    name, *numbers = text.split(":")
    limit = {"xid": (1, 2), "fabric-stuck": (0, 0)}.get(name, (0, 1))
    if (
        name not in FAULTS
        or not limit[0] <= len(numbers) <= limit[1]
        or not all(number.isdigit() for number in numbers)
    ):
        known = "; ".join(f"{fault}: {meaning}" for fault, meaning in FAULTS.items())
        raise ValueError(f"unknown fault {text!r}; faults are {known}")
    values = [int(number) for number in numbers]
    code = values.pop(0) if name == "xid" else 0
    index = values[0] if values else 0 if name == "xid" else count - 1
    if index >= count:
        raise ValueError(f"fault {text!r}: the node has GPUs 0 to {count - 1}")
    return name, code, index


@cache
def _rows() -> dict[str, dict[str, Any]]:
    return {row["pci_device"]: row for row in yaml.safe_load(_ROWS.read_text())["gpus"]}
