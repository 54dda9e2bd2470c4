"""Stand-in for nvidia-imex: stays when the driver's version is its own."""

import sys
from pathlib import Path

from gpuprov.lab.vendor.standin.daemon import wait_for_end
from gpuprov.lab.vendor.standin.forms import packed
from gpuprov.lab.vendor.standin.nvml import loaded_version


def main() -> int:
    """Runs nvidia-imex."""
    version = packed().data["version"]
    loaded = loaded_version(Path("/"))
    if loaded != version:
        sys.stderr.write(f"nvidia-imex (stand-in): driver {loaded or 'not loaded'}, IMEX {version}\n")
        return 1
    wait_for_end()
    return 0
