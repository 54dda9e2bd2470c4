"""Stand-in for nvidia-smi: -L, --query-gpu, -q, topo, nvlink and the plain table; real messages and statuses."""

import sys
import time
from collections.abc import Callable, Sequence

from gpuprov.lab.vendor.standin.arguments import has, option
from gpuprov.lab.vendor.standin.forms import Kit, packed
from gpuprov.lab.vendor.standin.gpu_settings import change, power_limit
from gpuprov.lab.vendor.standin.nvlink import links, matrix
from gpuprov.lab.vendor.standin.nvml import Gpu, Nvml, NvmlError, cuda_version, fabric_manager_runs

Field = tuple[Callable[[Gpu, Nvml], str], str]
"""How a query field is read, and its unit ("" for none)."""

FIELDS: dict[str, Field] = {
    "index": (lambda gpu, _: str(gpu.index), ""),
    "count": (lambda _, nvml: str(len(nvml.gpus)), ""),
    "name": (lambda gpu, _: gpu.name, ""),
    "gpu_name": (lambda gpu, _: gpu.name, ""),
    "uuid": (lambda gpu, _: gpu.uuid, ""),
    "gpu_uuid": (lambda gpu, _: gpu.uuid, ""),
    "serial": (lambda gpu, _: gpu.serial, ""),
    "gpu_serial": (lambda gpu, _: gpu.serial, ""),
    "driver_version": (lambda _, nvml: nvml.driver, ""),
    "vbios_version": (lambda gpu, _: gpu.vbios, ""),
    "compute_cap": (lambda gpu, _: gpu.compute_cap, ""),
    "pci.bus_id": (lambda gpu, _: gpu.bus_id, ""),
    "gpu_bus_id": (lambda gpu, _: gpu.bus_id, ""),
    "pci.device_id": (lambda gpu, _: f"0x{gpu.pci_device.upper()}10DE", ""),
    "pci.sub_device_id": (lambda gpu, _: f"0x{gpu.subsystem.upper()}10DE", ""),
    "memory.total": (lambda gpu, _: str(gpu.memory_mib), " MiB"),
    "memory.used": (lambda _, __: "0", " MiB"),
    "memory.free": (lambda gpu, _: str(gpu.memory_mib), " MiB"),
    "utilization.gpu": (lambda _, __: "0", " %"),
    "temperature.gpu": (lambda gpu, _: str(30 + gpu.index % 4), ""),
    "power.draw": (lambda gpu, _: f"{idle_watts(gpu)}.00", " W"),
    "power.limit": (lambda gpu, nvml: f"{power_limit(gpu, nvml.root)}.00", " W"),
    "power.default_limit": (lambda gpu, _: f"{gpu.power_limit_w}.00", " W"),
    "clocks.max.sm": (lambda _, __: "1980", " MHz"),
    "clocks.max.memory": (lambda _, __: "2619", " MHz"),
    "clocks.applications.graphics": (lambda _, __: "[Requested functionality has been deprecated]", ""),
    "compute_mode": (lambda _, __: "Default", ""),
    "mig.mode.current": (lambda gpu, _: "Disabled" if gpu.mig else "[N/A]", ""),
    "mig.mode.pending": (lambda gpu, _: "Disabled" if gpu.mig else "[N/A]", ""),
    "ecc.mode.current": (lambda _, __: "Enabled", ""),
    "ecc.mode.pending": (lambda _, __: "Enabled", ""),
    "gpu_recovery_action": (lambda _, __: "None", ""),
    "remapped_rows.correctable": (lambda _, __: "0", ""),
    "remapped_rows.uncorrectable": (lambda _, __: "0", ""),
    "remapped_rows.pending": (lambda _, __: "No", ""),
    "remapped_rows.failure": (lambda _, __: "No", ""),
    "fabric.state": (lambda gpu, nvml: fabric(gpu, nvml)[0], ""),
    "fabric.status": (lambda gpu, nvml: fabric(gpu, nvml)[1], ""),
    "persistence_mode": (lambda _, nvml: "Enabled" if persistence(nvml) else "Disabled", ""),
    "pcie.link.gen.current": (lambda gpu, _: str(pcie_generation(gpu)), ""),
    "pcie.link.gen.max": (lambda gpu, _: str(pcie_generation(gpu)), ""),
    "pcie.link.width.current": (lambda _, __: "16", ""),
    "pcie.link.width.max": (lambda _, __: "16", ""),
}

REMAPPED = ("gpu_uuid", "gpu_name", "gpu_bus_id")
"""The fields of --query-remapped-rows that it shares with --query-gpu; the others begin with `remapped_rows.`."""


def main() -> int:
    """Runs nvidia-smi."""
    return run(sys.argv[1:], kit=packed(), open_nvml=Nvml)


def run(arguments: Sequence[str], *, kit: Kit, open_nvml: Callable[[], Nvml]) -> int:
    """Answers one call and gives the exit status."""
    query = _fields(option(arguments, "--query-gpu"))
    rows = _fields(option(arguments, "--query-remapped-rows"))
    wrong = next((f for f in query if f not in FIELDS), None) or next((f for f in rows if not _is_remapped(f)), None)
    if wrong is not None:
        return kit.stop("nvidia-smi.bad-field", field=wrong)
    try:
        nvml = open_nvml()
    except NvmlError as error:
        return kit.stop(error.form, **error.values)
    gpus = _chosen(nvml, option(arguments, "-i", "--id"))
    if not gpus:
        return kit.stop("nvidia-smi.no-devices")
    changed = change(arguments, gpus, nvml.root, kit)
    if changed is not None:
        return changed
    lost = next((gpu for gpu in gpus if gpu.lost), None)
    listing = has(arguments, "-L", "--list-gpus")
    if lost is None or not (listing or query or rows):
        _answer(arguments, [gpu for gpu in gpus if not gpu.lost], nvml, kit)
    return kit.stop("nvidia-smi.lost", index=lost.index, bus=lost.bus) if lost else 0


def _answer(arguments: Sequence[str], gpus: Sequence[Gpu], nvml: Nvml, kit: Kit) -> None:
    layout = option(arguments, "--format", default="csv").split(",")
    query = _fields(option(arguments, "--query-gpu"))
    rows = _fields(option(arguments, "--query-remapped-rows"))
    if has(arguments, "-L", "--list-gpus"):
        for gpu in gpus:
            sys.stdout.write(kit.text("nvidia-smi.list", index=gpu.index, name=gpu.name, uuid=gpu.uuid))
    elif query:
        _csv(query, gpus, nvml, layout)
    elif rows:
        _remapped(rows, gpus, nvml, layout)
    elif has(arguments, "-q", "--query"):
        _query(gpus, nvml, kit)
    elif arguments[:1] == ["topo"]:
        sys.stdout.write(matrix(gpus))
    elif arguments[:1] == ["nvlink"]:
        sys.stdout.write(links(gpus, kit))
    else:
        _table(gpus, nvml, kit)


def _fields(text: str) -> list[str]:
    return [field.strip() for field in text.split(",")] if text else []


def _is_remapped(field: str) -> bool:
    return field in REMAPPED or field.startswith("remapped_rows.")


def _chosen(nvml: Nvml, wanted: str) -> list[Gpu]:
    """Gives the GPUs that `-i` selects by index, UUID or PCI address; all of them without `-i`."""
    if not wanted:
        return nvml.gpus
    names = set(wanted.split(","))
    return [gpu for gpu in nvml.gpus if {str(gpu.index), gpu.uuid, gpu.bus_id, gpu.bus} & names]


def _csv(fields: Sequence[str], gpus: Sequence[Gpu], nvml: Nvml, layout: Sequence[str]) -> None:
    if "noheader" not in layout:
        titles = [f"{f} [{FIELDS[f][1].strip()}]" if FIELDS[f][1] and "nounits" not in layout else f for f in fields]
        sys.stdout.write(", ".join(titles) + "\n")
    for gpu in gpus:
        values = [FIELDS[f][0](gpu, nvml) + ("" if "nounits" in layout else FIELDS[f][1]) for f in fields]
        sys.stdout.write(", ".join(values) + "\n")


def _remapped(fields: Sequence[str], gpus: Sequence[Gpu], nvml: Nvml, layout: Sequence[str]) -> None:
    if "noheader" not in layout:
        sys.stdout.write(", ".join(fields) + "\n")
    for gpu in gpus:
        sys.stdout.write(", ".join(FIELDS[f][0](gpu, nvml) if f in REMAPPED else "0" for f in fields) + "\n")


def _query(gpus: Sequence[Gpu], nvml: Nvml, kit: Kit) -> None:
    sys.stdout.write(
        kit.text(
            "nvidia-smi.query",
            date=_now(),
            driver=nvml.driver,
            cuda=cuda_version(nvml.driver),
            count=len(nvml.gpus),
        )
    )
    for gpu in gpus:
        state, status = fabric(gpu, nvml)
        registered = status == "Success"
        sys.stdout.write(
            kit.text(
                "nvidia-smi.query-gpu",
                bus_id=gpu.bus_id,
                name=gpu.name,
                architecture=gpu.architecture,
                persistence_mode="Enabled" if persistence(nvml) else "Disabled",
                mig_mode="Disabled" if gpu.mig else "N/A",
                serial=gpu.serial,
                uuid=gpu.uuid,
                minor=gpu.minor,
                vbios=gpu.vbios,
                fabric_state=state,
                fabric_status=status,
                clique="0" if registered else "N/A",
                cluster="00000000-0000-0000-0000-000000000000" if registered else "N/A",
                bandwidth="N/A",
            )
        )


def _table(gpus: Sequence[Gpu], nvml: Nvml, kit: Kit) -> None:
    head = {"smi": kit.data["version"], "driver": nvml.driver, "cuda": cuda_version(nvml.driver)}
    sys.stdout.write(kit.text("nvidia-smi.table-head", date=_now(), **head))
    for gpu in gpus:
        sys.stdout.write(
            kit.text(
                "nvidia-smi.table-gpu",
                index=gpu.index,
                name=gpu.name[:30],
                persistence="On" if persistence(nvml) else "Off",
                bus_id=gpu.bus_id,
                ecc="0",
                draw=idle_watts(gpu),
                limit=power_limit(gpu, nvml.root),
                memory=gpu.memory_mib,
                mig="Disabled" if gpu.mig else "N/A",
            )
        )
    sys.stdout.write(kit.text("nvidia-smi.table-foot"))


def persistence(nvml: Nvml) -> bool:
    """Tells whether nvidia-persistenced holds the GPUs open."""
    return (nvml.root / "run/nvidia-persistenced/nvidia-persistenced.pid").exists()


def fabric(gpu: Gpu, nvml: Nvml) -> tuple[str, str]:
    """Gives state and status of a GPU's registration with the NVLink fabric, as -q and --query-gpu write them."""
    if not gpu.nvlink:
        return "N/A", "N/A"
    return ("Completed", "Success") if fabric_manager_runs(nvml.root) else ("In Progress", "N/A")


def idle_watts(gpu: Gpu) -> int:
    """Gives the power that an idle GPU draws here: a tenth of its limit."""
    return gpu.power_limit_w // 10


def pcie_generation(gpu: Gpu) -> int:
    """Gives the PCIe generation of the GPU's architecture (data sheets: Ampere and Ada 4, Hopper and Blackwell 5)."""
    return 5 if gpu.architecture in {"Hopper", "Blackwell"} else 4


def _now() -> str:
    return time.strftime("%a %b %e %H:%M:%S %Y")
