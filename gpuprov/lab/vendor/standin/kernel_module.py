"""Installs the module that lies beside it for the kernels of this machine: what DKMS does, without compiling.

The real package compiles for minutes against kernel headers. Here only the version magic is filled in, so that
`modinfo`, `depmod` and the simulated kernel find a module that belongs to its kernel.
"""

import os
import subprocess
import sys
from pathlib import Path

MODULES = Path("/lib/modules")
BUILDS = Path("/var/lib/dkms/nvidia")
PLACE = b"vermagic="
FILLER = b"@" * 96
"""Room for the version magic in the packed module; what is left over becomes NUL bytes, which readers skip."""


def main() -> int:
    """Runs `install-module install` or `install-module remove`."""
    action = " ".join(sys.argv[1:])
    if action not in {"install", "remove"}:
        sys.stderr.write("usage: install-module install|remove\n")
        return 2
    source = Path(sys.argv[0]).resolve().parent / "nvidia.ko"
    for kernel in kernels(MODULES, running=os.uname().release):
        target = MODULES / kernel / "updates/dkms/nvidia.ko"
        if action == "install":
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = target.with_suffix(".ko.new")
            try:
                temporary.write_bytes(with_kernel(source.read_bytes(), kernel))
            except OSError as error:
                return _build_failed(kernel, source.parent.name.removeprefix("nvidia-"), error)
            temporary.replace(target)
        else:
            target.unlink(missing_ok=True)
        _make_index(kernel)
    return 0


def kernels(modules: Path, *, running: str) -> list[str]:
    """Gives the kernels to install for: the running one, and each with its build folder (headers), as DKMS chooses."""
    with_headers = {path.parent.name for path in modules.glob("*/build")}
    return sorted(with_headers | {running})


def with_kernel(module: bytes, kernel: str) -> bytes:
    """Gives the module with the version magic of a kernel."""
    magic = f"{kernel} SMP preempt mod_unload modversions ".encode()
    if PLACE + FILLER not in module or len(magic) > len(FILLER):
        raise ValueError("the packed module has no room for the version magic")
    return module.replace(PLACE + FILLER, PLACE + magic.ljust(len(FILLER), b"\0"))


def _build_failed(kernel: str, version: str, error: OSError) -> int:
    """Says what DKMS says, as in github.com/NVIDIA/nvidia-container-toolkit/issues/361, and gives DKMS's status."""
    log = BUILDS / version / "build/make.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f"{error}\n")
    sys.stderr.write(f"Error! Bad return status for module build on kernel: {kernel} ({os.uname().machine})\n")
    sys.stderr.write(f"Consult {log} for more information.\n")
    return 10


def _make_index(kernel: str) -> None:
    """Runs depmod; a kernel without modules of its own lacks the files that depmod reads, so they are made empty."""
    folder = MODULES / kernel
    if not folder.exists():
        return
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        (folder / name).touch()
    subprocess.run(["depmod", "-a", kernel], check=True)
