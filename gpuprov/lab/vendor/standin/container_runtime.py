"""Stand-in for nvidia-container-runtime and its hook: adds the GPUs asked for, and leaves the rest to runc."""

import json
import os
import shutil
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpuprov.lab.vendor.standin.arguments import option
from gpuprov.lab.vendor.standin.container_edits import chosen, device_nodes, edit_config, write_script
from gpuprov.lab.vendor.standin.forms import Kit, packed
from gpuprov.lab.vendor.standin.nvml import Nvml, NvmlError


def main() -> int:
    """Runs as the runtime or, under that name, as the prestart hook."""
    kit = packed()
    if Path(sys.argv[0]).name.endswith("-hook"):
        return prestart(kit)
    return runtime(kit, sys.argv[1:])


def runtime(kit: Kit, arguments: Sequence[str]) -> int:
    """Edits the bundle of a `create` call, then becomes runc with the same arguments."""
    if "create" in arguments:
        path = bundle_of(arguments) / "config.json"
        config = json.loads(path.read_text())
        wanted = environment_of(config).get("NVIDIA_VISIBLE_DEVICES", "")
        if wanted not in {"", "void", "none"}:
            try:
                nvml = Nvml()
            except NvmlError as error:
                return _fail(kit, error)
            gpus = chosen(nvml, wanted)
            edit_config(config, gpus, write_script(kit, nvml, gpus))
            path.write_text(json.dumps(config))
    runc = shutil.which("runc")
    if runc is None:
        sys.stderr.write("nvidia-container-runtime (stand-in): runc is not installed\n")
        return 1
    os.execv(runc, [runc, *arguments])  # noqa: S606 - the runtime becomes runc, as the real one does
    return 1


def prestart(kit: Kit) -> int:
    """Puts the devices and nvidia-smi into a container that exists but has not started (`docker run --gpus`)."""
    if sys.argv[1:] != ["prestart"]:
        return 0
    state = json.load(sys.stdin)
    config = json.loads((Path(state["bundle"]) / "config.json").read_text())
    wanted = environment_of(config).get("NVIDIA_VISIBLE_DEVICES", "")
    try:
        nvml = Nvml()
    except NvmlError as error:
        return _fail(kit, error)
    gpus = chosen(nvml, wanted)
    # Its root is still the machine's: the image lies in its mount namespace, where the bundle says.
    image = Path(state["bundle"]) / config["root"]["path"]
    root = Path(f"/proc/{state['pid']}/root{image}")
    for path, major, minor in device_nodes(gpus):
        target = root / path.lstrip("/")
        os.mknod(target, stat.S_IFCHR | 0o666, os.makedev(major, minor))
        target.chmod(0o666)
    folder = root / "usr/bin"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(write_script(kit, nvml, gpus), folder / "nvidia-smi")
    return 0


def bundle_of(arguments: Sequence[str]) -> Path:
    """Gives the bundle folder that runc's arguments name; the current one without `--bundle`."""
    return Path(option(arguments, "--bundle", "-b", default="."))


def environment_of(config: dict[str, Any]) -> dict[str, str]:
    """Gives the environment of the container's process."""
    return dict(entry.partition("=")[::2] for entry in config.get("process", {}).get("env", []))


def _fail(kit: Kit, error: NvmlError) -> int:
    reason = kit.text(error.form, **error.values).splitlines()[0].removeprefix("Failed to initialize NVML: ")
    sys.stderr.write(kit.text("nvidia-container-toolkit.nvml-error", reason=reason.lower()))
    return 1
