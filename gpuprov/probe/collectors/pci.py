"""What is on the PCI bus: GPUs and NVSwitches, also without a driver, and how each GPU is attached."""

import re

from gpuprov.model.fact import Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, fixed, odd
from gpuprov.probe.collectors.per_gpu import settle

GIVES = (
    "gpu.count",
    "gpu.devices",
    "gpu.buses",
    "gpu.switches",
    "gpu.numa",
    "gpu.pcie_width",
    "gpu.pcie_speed",
    "gpu.bound",
)

# Shell words only: not one process is started. A GPU that fell off the bus answers no read of its link.
_COMMAND = """\
cd /sys/bus/pci/devices || exit 1
[ ! -e /dev/dxg ] || echo wsl
get() { g=; [ -r "$1" ] && read -r g <"$1"; } 2>/dev/null
for d in *; do
  get "$d/vendor"; [ "$g" = 0x10de ] || continue
  get "$d/class"; c=$g; get "$d/device"; i=$g; get "$d/numa_node"; n=$g
  get "$d/current_link_width"; w=$g; get "$d/max_link_width"; m=$g; get "$d/max_link_speed"; s=${g%% *}
  b=none
  for x in nvidia nouveau vfio-pci; do [ -e "/sys/bus/pci/drivers/$x/$d" ] && b=$x; done
  echo "$d $c $i numa=$n width=$w of=$m speed=$s driver=$b"
done
echo end
"""
_LINE = re.compile(
    r"(?P<bus>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]) 0x(?P<kind>[0-9a-f]{6}) 0x(?P<device>[0-9a-f]{4})"
    r"(?: numa=(?P<numa>-?\d{0,4}) width=(?P<width>\w*) of=(?P<most>\w*) speed=(?P<speed>[\w.]*)"
    r" driver=(?P<driver>[a-z-]+))?"
)
_GPU_KINDS = ("0300", "0302")
"""VGA and 3D controllers (pci.ids, device classes)."""
_SWITCH_KIND = "0680"
"""Bridge of another kind: NVSwitches of A100 and H100 boards; those of later boards are on no bus of the host."""
_NOT_TOLD = Unknown("the kernel does not tell")

_Row = re.Match[str]


def bus_address(text: str) -> str:
    """Write a PCI address as Linux does: `00000000:1B:00.0` is 0000:1b:00.0; a domain of its own is kept (A27)."""
    domain, _, rest = text.lower().partition(":")
    return f"{domain.lstrip('0').rjust(4, '0')}:{rest}"


def parse_pci(output: CollectorOutput, recording: Recording) -> Found:
    """NVIDIA's display and 3D controllers on the bus; no driver is needed for them."""
    if output.status != 0:
        return dict.fromkeys(GIVES, failure(output, recording, "reading /sys/bus/pci"))
    lines = output.stdout.splitlines()
    if "wsl" in lines:
        return dict.fromkeys(GIVES, Unknown("this is WSL: its GPUs are on no PCI bus that Linux sees"))
    rows = [_LINE.fullmatch(line) for line in lines[:-1]]
    found = sorted((row for row in rows if row is not None), key=lambda row: bus_address(row["bus"]))
    if not lines or lines[-1] != "end" or len(found) != len(rows):
        return dict.fromkeys(GIVES, odd(output, "the list of PCI devices"))
    gpus = [row for row in found if row["kind"][:4] in _GPU_KINDS]
    return {
        "gpu.count": Known(len(gpus)),
        "gpu.devices": Known([*sorted(f"10de:{row['device']}" for row in gpus)]),
        "gpu.buses": Known([bus_address(row["bus"]) for row in gpus]),
        "gpu.switches": Known(sum(row["kind"][:4] == _SWITCH_KIND for row in found)),
        "gpu.numa": _each(gpus, "numa"),
        "gpu.pcie_width": _each(gpus, "width"),
        "gpu.pcie_speed": _each(gpus, "speed"),
        "gpu.bound": _each(gpus, "driver"),
    }


def _each(gpus: list[_Row], name: str) -> Observation:
    """One value for all GPUs, numbered in the order of their addresses."""
    return settle({str(number): _value(row, name) for number, row in enumerate(gpus)})


def _value(row: _Row, name: str) -> Observation:
    text = row[name]
    if not text:
        return _NOT_TOLD
    if name == "width":
        # A width of 0 or 63 is what a link that is down reads as (PCI Express: all bits set).
        down = not text.isdecimal() or text in {"0", "63", "255"}
        return Unknown(f"the link's width is {text}") if down else Known(f"x{text} of x{row['most']}")
    if name == "speed":
        known = re.fullmatch(r"\d{1,3}(?:\.\d)?", text)
        return Known(f"{text} GT/s") if known else Unknown(f"the link's speed is {text}")
    return Known(int(text)) if name == "numa" else Known(text)


COLLECTORS = (Collector(name="pci", command=fixed(_COMMAND), gives=GIVES, parse=parse_pci, limit=0),)
