"""How the GPUs of a host reach each other: NVLink, and the PCI paths between GPUs and network cards."""

import re

from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, first_line, fixed, need, odd
from gpuprov.probe.collectors.per_gpu import settle
from gpuprov.probe.collectors.smi import LIMIT, NEEDS_DRIVER, without_driver

GIVES = ("gpu.topology", "gpu.topology_nics", "gpu.nvlink")

# One GPU has no other to reach; its NVLinks would lead nowhere. The links are asked for only where the matrix has one.
_COMMAND = (
    need("nvidia-smi")
    + NEEDS_DRIVER
    + r"""
n=0; for g in /proc/driver/nvidia/gpus/*; do [ -e "$g" ] && n=$((n+1)); done
[ "$n" -gt 1 ] || { echo single; exit 0; }
m=$(nvidia-smi topo -m); s=$?
printf '%s\n' "$m"
[ "$s" = 0 ] || exit "$s"
case $m in *NV[0-9]*) echo links; nvidia-smi nvlink --status || exit $? ;; esac
echo end
"""
)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_PATH = re.compile(r"X|SYS|NODE|PHB|PXB|PIX|NV\d{1,3}|SOC|N/A")
_DEVICE = re.compile(r"(GPU|NIC)\d+|mlx\d+_\d+")
_LINK = re.compile(r"\s*Link (\d+): (?:(?P<speed>[\d.]+) GB/s|(?P<off><inactive>))")
_GPU = re.compile(r"GPU (\d+): .*")


def parse_topology(output: CollectorOutput, recording: Recording) -> Found:
    """The matrix between GPUs, the one to network cards, and the NVLinks of each GPU."""
    if without_driver(output):
        return dict.fromkeys(GIVES, Absent())
    if output.stdout == "single\n" and output.status == 0:
        return dict.fromkeys(GIVES, Absent())
    matrix, mark, links = output.stdout.partition("links\n")
    if output.status != 0 or not output.stdout.endswith("end\n"):
        return dict.fromkeys(GIVES, failure(output, recording, "nvidia-smi topo"))
    rows = _matrix(_COLOURS.sub("", matrix))
    if rows is None:
        reason = odd(output, "the answer of nvidia-smi topo")
        return {"gpu.topology": reason, "gpu.topology_nics": reason, "gpu.nvlink": _links(links) if mark else reason}
    return {
        "gpu.topology": _between_gpus(rows),
        "gpu.topology_nics": _to_nics(rows),
        "gpu.nvlink": _links(links.removesuffix("end\n")) if mark else Absent(),
    }


_Matrix = dict[str, dict[str, str]]


def _matrix(text: str) -> _Matrix | None:
    """Row -> column -> path, of GPUs; None when the text has another form.

    Columns are separated by tabs, and those after the devices (affinities) may be empty.
    """
    lines = text.split("\n")
    head = next((line for line in lines if "GPU0" in line), None)
    if head is None:
        return None
    columns = [name.strip() for name in head.split("\t")[1:]]
    devices = [name for name in columns if _DEVICE.fullmatch(name)]
    rows: _Matrix = {}
    for line in lines[lines.index(head) + 1 :]:
        name, *cells = (cell.strip() for cell in line.split("\t"))
        if not name.startswith("GPU"):
            continue
        paths = cells[: len(devices)]
        if len(paths) != len(devices) or not all(_PATH.fullmatch(path) for path in paths):
            return None
        rows[name] = dict(zip(devices, paths, strict=True))
    return rows if rows and set(rows) == {name for name in devices if name.startswith("GPU")} else None


def _between_gpus(rows: _Matrix) -> Observation:
    """One word where every pair has the same path, as behind NVSwitches; else each GPU's row."""
    pairs = {path for name, row in rows.items() for other, path in row.items() if other in rows and other != name}
    if len(pairs) == 1:
        return Known(pairs.pop())
    return Known({name: " ".join(path for other, path in row.items() if other in rows) for name, row in rows.items()})


def _to_nics(rows: _Matrix) -> Observation:
    """For each GPU how many network cards are how near: their order is the kernel's, and differs between twins."""
    near = {name: sorted(path for other, path in row.items() if other not in rows) for name, row in rows.items()}
    if not any(near.values()):
        return Absent()
    return settle(
        {
            name.removeprefix("GPU"): Known(", ".join(f"{paths.count(p)} {p}" for p in dict.fromkeys(paths)))
            for name, paths in near.items()
        }
    )


def _links(text: str) -> Observation:
    """Active links and their speed in GB/s; which of a GPU's links are inactive differs between boards."""
    links: dict[str, list[str]] = {}
    current = ""
    for line in text.splitlines():
        if gpu := _GPU.fullmatch(line):
            current = gpu[1]
            links[current] = []
        elif (link := _LINK.fullmatch(line)) and current:
            links[current].append(link["speed"] or "inactive")
        elif line.strip() and line != "end":
            return Unknown(f"nvidia-smi nvlink has an unknown line: {first_line(line)}")
    return settle({number: _told(speeds) for number, speeds in links.items()})


def _told(speeds: list[str]) -> Observation:
    if not speeds:
        return Absent()
    active = [speed for speed in speeds if speed != "inactive"]
    told = ", ".join(f"{active.count(s)} at {s} GB/s" for s in sorted(set(active)))
    off = len(speeds) - len(active)
    return Known(", ".join(part for part in (told, f"{off} inactive" if off else "") if part))


COLLECTORS = (Collector(name="topology", command=fixed(_COMMAND), gives=GIVES, parse=parse_topology, limit=LIMIT),)
