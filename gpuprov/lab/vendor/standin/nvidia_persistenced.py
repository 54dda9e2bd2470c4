"""Stand-in for nvidia-persistenced: has the module loaded, then holds the GPUs open by being there."""

import sys
from pathlib import Path

from gpuprov.lab.vendor.standin.daemon import detach, wait_for_end
from gpuprov.lab.vendor.standin.forms import packed
from gpuprov.lab.vendor.standin.nvml import Nvml, NvmlError

PID_FILE = Path("/run/nvidia-persistenced/nvidia-persistenced.pid")


def main() -> int:
    """Runs nvidia-persistenced."""
    kit = packed()
    try:
        Nvml()
    except NvmlError as error:
        sys.stderr.write(kit.text(error.form, **error.values))
        return kit.stop("nvidia-persistenced.failed")
    detach(PID_FILE)
    wait_for_end()
    PID_FILE.unlink(missing_ok=True)
    return 0
