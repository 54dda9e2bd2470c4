"""RDMA: adapters (InfiniBand, RoCE, EFA) and their ports, their drivers, OFED and EFA's own stack."""

import re

from gpuprov.model.fact import Absent, Known, Observation, Unknown, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, fixed, lines_of_files

GIVES = (
    "rdma.devices",
    "rdma.firmware",
    "rdma.modules",
    "rdma.ofed",
    "rdma.efa",
    "stack.driver.peermem",
)

# -s: a host without adapters, or a port without a rate, lacks the files.
_COMMAND = r"""
[ -d /sys/class ] && [ -d /sys/module ] || { echo 'no /sys here' >&2; exit 1; }
i=/sys/class/infiniband; m=/sys/module
grep -s -H '' $i/*/hca_type $i/*/fw_ver $i/*/device/vendor $i/*/device/device \
  $i/*/ports/*/state $i/*/ports/*/link_layer $i/*/ports/*/rate \
  $m/mlx5_core/version $m/ib_core/version $m/efa/version $m/gdrdrv/version $m/nvidia_peermem/version \
  $m/irdma/version $m/bnxt_re/version /opt/amazon/efa_installed_packages
for n in mlx5_core ib_core efa gdrdrv nvidia_peermem nv_peer_mem irdma bnxt_re; do
  [ -d "$m/$n" ] && echo "loaded $n"
done
if command -v ofed_info >/dev/null 2>&1; then echo "ofed $(ofed_info -s)"; fi
echo end
"""
_FILE = re.compile(r"/sys/class/infiniband/(?P<device>[^/]+)/(?:ports/(?P<port>\d+)/)?(?P<name>.+)")
_MODULE = re.compile(r"/sys/module/(?P<name>[^/]+)/version")
_STATE = re.compile(r"\d+: (\w+)")
_VENDORS = {"0x15b3": "Mellanox", "0x1d0f": "Amazon", "0x8086": "Intel", "0x14e4": "Broadcom"}
"""PCI vendors of RDMA adapters (pci.ids, 2026-11-30)."""


def parse_rdma(output: CollectorOutput, recording: Recording) -> Found:
    """Adapters by kind and state of their ports; their names differ between twins, so they are counted."""
    if not ended(output):
        return dict.fromkeys(GIVES, failure(output, recording, "reading /sys/class/infiniband"))
    files = {path: lines[0].strip() for path, lines in lines_of_files(output.stdout).items()}
    loaded = {line.removeprefix("loaded ") for line in output.stdout.splitlines() if line.startswith("loaded ")}
    versions = {found["name"]: text for path, text in files.items() if (found := _MODULE.fullmatch(path))}
    modules: dict[str, Value] = {name: versions.get(name, "in the kernel") for name in sorted(loaded)}
    firmware = sorted({text for path, text in files.items() if path.endswith("/fw_ver") and text})
    return {
        "rdma.devices": _devices(files),
        "rdma.firmware": Known([*firmware]) if firmware else Absent(),
        "rdma.modules": Known(modules) if modules else Absent(),
        "rdma.ofed": _ofed(output.stdout),
        "rdma.efa": _efa(files.get("/opt/amazon/efa_installed_packages")),
        "stack.driver.peermem": Known(bool(loaded & {"nvidia_peermem", "nv_peer_mem"})),
    }


def _devices(files: dict[str, str]) -> Observation:
    devices: dict[str, dict[str, str]] = {}
    for path, text in files.items():
        if found := _FILE.fullmatch(path):
            devices.setdefault(found["device"], {})[f"{found['port'] or ''} {found['name']}".strip()] = text
    if not devices:
        return Absent()
    told = sorted(_describe(device) for device in devices.values())
    return Known([f"{told.count(text)} x {text}" for text in dict.fromkeys(told)])


def _describe(device: dict[str, str]) -> str:
    vendor = device.get("device/vendor", "")
    kind = device.get("hca_type") or device.get("device/device", "")
    ports = sorted({key.split()[0] for key in device if " " in key})
    parts = [f"{_VENDORS.get(vendor, vendor)} {kind}".strip() or "unknown adapter"]
    for port in ports:
        state = _STATE.fullmatch(device.get(f"{port} state", ""))
        words = (device.get(f"{port} link_layer", ""), device.get(f"{port} rate", ""), state[1] if state else "")
        parts.append(" ".join(word for word in words if word))
    return ", ".join(parts)


def _ofed(text: str) -> Observation:
    line = next((line for line in text.splitlines() if line.startswith("ofed ")), None)
    if line is None:
        return Absent()
    found = re.fullmatch(r"ofed ((?:MLNX_OFED_LINUX|OFED-internal|DOCA\S*|OFED)-\S+?):?", line)
    return Known(found[1]) if found else Unknown(f"ofed_info has an unknown form: {line.removeprefix('ofed ')}")


def _efa(text: str | None) -> Observation:
    if text is None:
        return Absent()
    found = re.search(r"EFA installer version: (\d+(?:\.\d+)+)", text)
    return Known(found[1]) if found else Unknown(f"efa_installed_packages has an unknown form: {text}")


COLLECTORS = (Collector(name="rdma", command=fixed(_COMMAND), gives=GIVES, parse=parse_rdma),)
