"""How the stand-in nvidia-smi shows the ways between GPUs: `topo -m` and `nvlink --status`."""

from collections.abc import Sequence

from gpuprov.lab.vendor.standin.forms import Kit
from gpuprov.lab.vendor.standin.nvml import Gpu

_LINKS = {"Ampere": (12, "25"), "Hopper": (18, "26.562"), "Blackwell": (18, "53.125")}
"""Architecture -> NVLinks of a GPU on a board with NVSwitches, and the speed of each in GB/s (NVIDIA's data sheets)."""
_LEGEND = "\nLegend:\n\n  X    = Self\n"


def matrix(gpus: Sequence[Gpu]) -> str:
    """Gives the matrix of `nvidia-smi topo -m`: behind NVSwitches all links lead to every GPU; without, PCIe does."""
    names = [f"GPU{gpu.index}" for gpu in gpus]
    rows = ["\t".join(["", *names, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])]
    for gpu, name in zip(gpus, names, strict=True):
        path = f"NV{_LINKS[gpu.architecture][0]}" if gpu.nvlink else "NODE"
        cells = [" X " if other == name else path for other in names]
        rows.append("\t".join([name, *cells, "0-1", "0", "", "N/A"]))
    return "\n".join(rows) + "\n" + _LEGEND


def links(gpus: Sequence[Gpu], kit: Kit) -> str:
    """Gives the answer of `nvidia-smi nvlink --status`: every link of every GPU."""
    text = ""
    for gpu in gpus:
        text += kit.text("nvidia-smi.list", index=gpu.index, name=gpu.name, uuid=gpu.uuid)
        number, speed = _LINKS[gpu.architecture] if gpu.nvlink else (0, "")
        text += "".join(kit.text("nvidia-smi.nvlink", link=link, speed=speed) for link in range(number))
    return text
