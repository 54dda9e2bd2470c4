"""GPUs: what is on the PCI bus, and what the driver says of them."""

import re

from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, first_line, fixed, is_missing, need, odd

_PCI = """\
cd /sys/bus/pci/devices || exit 1
for d in *; do
  [ -e "$d/vendor" ] || continue
  read -r v <"$d/vendor"; read -r c <"$d/class"; read -r i <"$d/device"
  [ "$v" = 0x10de ] && echo "$d $c $i"
done
echo end
"""
_PCI_LINE = re.compile(
    r"(?P<bus>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]) 0x(?P<kind>[0-9a-f]{6}) 0x(?P<device>[0-9a-f]{4})"
)
_PCI_GIVES = ("gpu.count", "gpu.devices")
_GPU_KINDS = ("0300", "0302")
"""VGA and 3D controllers (pci.ids, device classes)."""

# nvidia-smi loads the driver when it is not loaded; a probe must not. WSL has no module of its own (A28): there
# /dev/dxg stands for it.
_SMI = (
    need("nvidia-smi") + "[ -e /proc/driver/nvidia/version ] || [ -e /dev/dxg ] ||"
    " { echo 'gpuprov: no driver is loaded' >&2; exit 9; }; "
    "nvidia-smi --query-gpu=index,pci.bus_id,driver_version,name --format=csv,noheader"
)
_ROW = re.compile(r"\s*(\d+), ([0-9A-Fa-f:.]+), ([^,]*), (.+?)\s*")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_NO_VALUE = re.compile(r"\[?(?:N/A|Not Supported|Unknown Error|Unknown|ERR!|GPU is lost|Insufficient Permissions)\]?")
"""What nvidia-smi writes for a value it does not have (A26)."""
_LOST = re.compile(
    r"(?:Unable to determine the device handle for )?GPU *\d*:? *([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)"
)


_WITHOUT_DRIVER: Found = {"stack.driver.nvml": Absent(), "gpu.models": Absent()}
"""Without a driver there is no NVML, so there are no names of its; gpu.devices says what is on the bus."""


def parse_pci(output: CollectorOutput, recording: Recording) -> Found:
    """gpu.count and gpu.devices: NVIDIA's display and 3D controllers on the bus; no driver is needed for them."""
    if output.status != 0:
        return dict.fromkeys(_PCI_GIVES, failure(output, recording, "reading /sys/bus/pci"))
    lines = output.stdout.splitlines()
    rows = [_PCI_LINE.fullmatch(line) for line in lines[:-1]]
    if not lines or lines[-1] != "end" or not all(rows):
        return dict.fromkeys(_PCI_GIVES, odd(output, "the list of PCI devices"))
    gpus = sorted(f"10de:{row['device']}" for row in rows if row is not None and row["kind"][:4] in _GPU_KINDS)
    return {"gpu.count": Known(len(gpus)), "gpu.devices": Known(list(gpus))}


def parse_smi(output: CollectorOutput, recording: Recording) -> Found:
    """stack.driver.nvml and gpu.models, or why the driver does not tell (A01, A25, A26)."""
    if is_missing(output):
        return _WITHOUT_DRIVER
    text = output.stdout + "\n" + output.stderr
    if "gpuprov: no driver is loaded" in output.stderr:
        return _WITHOUT_DRIVER
    if output.status == 0 and (rows := _rows(output.stdout)) is not None:
        return rows
    return {"stack.driver.nvml": (reason := _trouble(text, output, recording)), "gpu.models": reason}


def _rows(text: str) -> Found | None:
    """The table; None when a line is no row of it."""
    rows = [_ROW.fullmatch(line) for line in text.splitlines() if line.strip()]
    found = [row.groups() for row in rows if row is not None]
    if not found or len(found) != len(rows):
        return None
    versions = {version for _, _, version, _ in found}
    version = versions.pop() if len(versions) == 1 else ""
    bad = next((f"GPU {index}: {name}" for index, _, _, name in found if _NO_VALUE.fullmatch(name)), "")
    names: list[str] = sorted(name for *_, name in found)
    return {
        "stack.driver.nvml": Known(version)
        if _VERSION.fullmatch(version)
        else Unknown(f"nvidia-smi gives no driver version: {first_line(text)}"),
        "gpu.models": Unknown(f"nvidia-smi gives no name for {bad}") if bad else Known(list(names)),
    }


def _trouble(text: str, output: CollectorOutput, recording: Recording) -> Unknown:
    if "Driver/library version mismatch" in text:
        library = re.search(r"NVML library version: ([\d.]+)", text)
        more = f" (library {library[1]})" if library else ""
        return Unknown(f"NVML refuses: driver and library have different versions{more}; a reboot or reload is pending")
    lost = _LOST.search(text)
    if lost is not None and ("lost" in text or "Unknown Error" in text or "device handle" in text):
        return Unknown(f"the driver lost GPU {lost[1].lower()}; nvidia-smi tells nothing about the others then")
    if "No devices were found" in text:
        return Unknown("the driver is loaded but finds no GPU that it supports")
    if output.status == 0:
        return odd(output, "the answer of nvidia-smi")
    return failure(output, recording, "nvidia-smi")


COLLECTORS = (
    Collector(name="pci", command=fixed(_PCI), gives=_PCI_GIVES, parse=parse_pci, limit=0),
    Collector(name="smi", command=fixed(_SMI), gives=("stack.driver.nvml", "gpu.models"), parse=parse_smi),
)
