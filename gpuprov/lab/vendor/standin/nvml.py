"""NVML as the stand-ins see it: the library found on disk, the module loaded, and the GPUs behind it.

The version of the library is read from the file that libnvidia-ml.so.1 points to, as dlopen would find it; a half-moved
driver set therefore fails here the way the real one does.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

TYPE_CHECKING = False  # not typing's own: its import takes a tenth of a call of nvidia-smi
if TYPE_CHECKING:
    from typing import Any

_MODPROBE = "usr/bin/nvidia-modprobe"


class NvmlError(Exception):
    """NVML cannot be used; `form` names the message that nvidia-smi prints for it, `values` fill it in."""

    def __init__(self, form: str, **values: str) -> None:
        self.form = form
        self.values = values
        super().__init__(form)


class Gpu:
    """One GPU as the driver reports it."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.index = int(row["index"])
        self.minor = int(row["index"])
        self.name = str(row["name"])
        self.uuid = str(row["uuid"])
        self.bus = str(row["bus"])
        """PCI address as the kernel writes it: 0000:1b:00.0."""
        self.pci_device = str(row["pci_device"])
        self.subsystem = str(row["subsystem"])
        self.vbios = str(row["vbios"])
        self.serial = str(row["serial"])
        self.memory_mib = int(row["memory_mib"])
        self.power_limit_w = int(row["power_limit_w"])
        self.compute_cap = str(row["compute_cap"])
        self.architecture = str(row["architecture"])
        self.mig = bool(row["mig"])
        self.nvlink = bool(row["nvlink"])
        self.lost = bool(row["lost"])
        """Whether it fell off the bus: the driver knows it and cannot reach it."""
        self.xid = int(row["xid"])
        """The last XID error, 0 for none."""

    @property
    def bus_id(self) -> str:
        """The PCI address as NVML writes it: 00000000:1B:00.0."""
        return "0000" + self.bus.upper()


class Nvml:
    """A session with the driver.

    Args:
        root: the node's root; another folder in tests.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root
        self.library = library_version(root)
        loaded = loaded_version(root)
        if loaded is None:
            loaded = self._load()
        if loaded != self.library:
            raise NvmlError("nvidia-smi.mismatch", short_version=".".join(self.library.split(".")[:2]))
        self.driver = loaded
        self.gpus = [Gpu(row) for row in known_to_driver(hardware(root)["gpus"], opened=open_module(root))]

    def _load(self) -> str:
        """Asks nvidia-modprobe to load the module, as the real library does when the device files are missing."""
        program = self.root / _MODPROBE
        if program.exists() and os.geteuid() == 0:
            import subprocess  # noqa: PLC0415 - as long, and rarely needed

            subprocess.run([program, "-s"], check=False, capture_output=True)
        loaded = loaded_version(self.root)
        if loaded is None:
            raise NvmlError("nvidia-smi.not-loaded")
        return loaded


def library_version(root: Path) -> str:
    """Gives the version of the NVML library on disk.

    Raises:
        NvmlError: there is none.
    """
    for link in sorted(root.glob("usr/lib/*/libnvidia-ml.so.1")):
        return link.readlink().name.removeprefix("libnvidia-ml.so.")
    raise NvmlError("nvidia-smi.no-library")


def loaded_version(root: Path) -> str | None:
    """Gives the version of the loaded kernel module; None when none is loaded."""
    try:
        return (root / "sys/module/nvidia/version").read_text().strip()
    except FileNotFoundError:
        return None


def open_module(root: Path) -> bool:
    """Tells whether the loaded kernel module is the open one."""
    try:
        return "Open Kernel Module" in (root / "proc/driver/nvidia/version").read_text()
    except FileNotFoundError:
        return False


def known_to_driver(gpus: list[dict[str, Any]], *, opened: bool) -> list[dict[str, Any]]:
    """Gives the GPUs that a module of this flavour can drive: the proprietary one does not know Blackwell GPUs."""
    return [row for row in gpus if opened or row["requires"] != "open"]


def hardware(root: Path) -> dict[str, Any]:
    """Gives the simulated hardware: `gpus`, `switches` and `faults`; all empty on a machine without any."""
    try:
        text = (root / "run/lab-hardware/hardware.json").read_text()
    except FileNotFoundError:
        return {"gpus": [], "switches": [], "faults": []}
    found: dict[str, Any] = json.loads(text)
    return found


def cuda_version(driver: str) -> str:
    """Gives the CUDA version that a driver reports (CUDA Toolkit, Driver, and Architecture Matrix, 2026-11)."""
    return {"535": "12.2", "550": "12.4", "570": "12.8", "575": "12.9", "580": "13.0", "590": "13.1", "595": "13.2"}[
        driver.partition(".")[0]
    ]


def fabric_manager_runs(root: Path) -> bool:
    """Tells whether Fabric Manager has configured the switches since the machine started."""
    return (root / "run/nvidia-fabricmanager/configured").exists()
