"""Stand-in for dcgmi: discovery, through a running host engine."""

import socket
import sys

from gpuprov.lab.vendor.standin.forms import packed
from gpuprov.lab.vendor.standin.hostengine import ADDRESS
from gpuprov.lab.vendor.standin.nvml import Nvml, NvmlError


def main() -> int:
    """Runs dcgmi."""
    kit = packed()
    arguments = sys.argv[1:]
    if arguments != ["discovery", "-l"]:
        sys.stderr.write("dcgmi (stand-in): only --version and discovery -l\n")
        return 2
    try:
        socket.create_connection(ADDRESS, timeout=2).close()
    except OSError:
        return kit.stop("dcgm.no-hostengine")
    try:
        gpus = [gpu for gpu in Nvml().gpus if not gpu.lost]
    except NvmlError:
        gpus = []
    sys.stdout.write(kit.text("dcgm.discovery-head", count=len(gpus), plural="" if len(gpus) == 1 else "s"))
    for gpu in gpus:
        row = {"index": gpu.index, "name": gpu.name, "bus_id": gpu.bus_id, "uuid": gpu.uuid}
        sys.stdout.write(kit.text("dcgm.discovery-gpu", **row))
    return 0
