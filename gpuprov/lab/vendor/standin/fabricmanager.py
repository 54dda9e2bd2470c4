"""Stand-in for nv-fabricmanager: refuses another driver's version and a machine without switches."""

import sys
from pathlib import Path

from gpuprov.lab.vendor.standin.daemon import detach, wait_for_end
from gpuprov.lab.vendor.standin.forms import Kit, packed
from gpuprov.lab.vendor.standin.nvml import hardware, loaded_version

STATE = Path("/run/nvidia-fabricmanager")


def main() -> int:
    """Runs nv-fabricmanager."""
    kit = packed()
    status = check(kit, Path("/"))
    if status:
        return status
    sys.stdout.write(kit.text("nv-fabricmanager.connected"))
    sys.stdout.flush()
    detach(STATE / "nv-fabricmanager.pid")
    if "fabric-stuck" not in hardware(Path("/"))["faults"]:
        (STATE / "configured").touch()
    wait_for_end()
    return 0


def check(kit: Kit, root: Path) -> int:
    """Gives 0 when the daemon may start, else prints why not and gives the exit status."""
    loaded = loaded_version(root)
    if loaded is None:
        return kit.stop("nv-fabricmanager.no-driver")
    if loaded != kit.data["version"]:
        return kit.stop("nv-fabricmanager.mismatch", version=kit.data["version"], loaded=loaded)
    if not hardware(root)["switches"]:
        return kit.stop("nv-fabricmanager.no-switch")
    return 0
