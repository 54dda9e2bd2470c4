"""Stand-in for nvidia-modprobe: asks the simulated kernel to load the module on disk, unless one is loaded."""

import subprocess
import sys
from pathlib import Path

from gpuprov.lab.vendor.standin.forms import packed

KERNEL = Path("/usr/lib/lab-hardware/lab-hardware")
"""The program that plays the kernel; it is part of the simulated machine, not of any package."""


def main() -> int:
    """Runs nvidia-modprobe."""
    kit = packed()
    if any(argument in {"-v", "--version"} for argument in sys.argv[1:]):
        sys.stdout.write(kit.text("nvidia-modprobe.version", version=kit.data["version"]))
        return 0
    if not KERNEL.exists():
        sys.stderr.write("nvidia-modprobe (stand-in): this machine has no simulated hardware\n")
        return 1
    return subprocess.run([KERNEL, "load"], check=False).returncode
