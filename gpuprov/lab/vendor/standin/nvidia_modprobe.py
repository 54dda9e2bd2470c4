"""Stand-in for nvidia-modprobe: asks the simulated kernel to load the module on disk, unless one is loaded."""

import subprocess
import sys
from pathlib import Path

KERNEL = Path("/usr/lib/lab-hardware/lab-hardware")
"""The program that plays the kernel; it is part of the simulated machine, not of any package."""


def main() -> int:
    """Runs nvidia-modprobe."""
    if not KERNEL.exists():
        sys.stderr.write("nvidia-modprobe (stand-in): this machine has no simulated hardware\n")
        return 1
    return subprocess.run([KERNEL, "load"], check=False).returncode
