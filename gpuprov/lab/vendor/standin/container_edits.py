"""What a container gets of the GPUs: device nodes, and an nvidia-smi that any shell can run.

The real toolkit mounts the driver's libraries and programs of the host. A stand-in cannot run in an image without
python3, so what the host's nvidia-smi says at the start of the container is packed into a shell script and mounted in
its place.
"""

import io
import shlex
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from gpuprov.lab.vendor.standin import nvidia_smi
from gpuprov.lab.vendor.standin.forms import Kit
from gpuprov.lab.vendor.standin.nvml import Gpu, Nvml

SCRIPT = Path("/run/nvidia-container-toolkit/nvidia-smi")
_CALLS = (
    ("-L",),
    ("--query-gpu=name", "--format=csv,noheader"),
    ("--query-gpu=driver_version", "--format=csv,noheader"),
    ("--query-gpu=index,name,uuid", "--format=csv,noheader"),
    (),
)
"""The calls of nvidia-smi that work in a container."""


def chosen(nvml: Nvml, wanted: str) -> list[Gpu]:
    """Gives the GPUs that NVIDIA_VISIBLE_DEVICES names: `all`, indexes and UUIDs, or none (`void`, `none`, nothing)."""
    if wanted in {"", "void", "none"}:
        return []
    if wanted == "all":
        return list(nvml.gpus)
    names = set(wanted.split(","))
    return [gpu for gpu in nvml.gpus if {str(gpu.index), gpu.uuid} & names]


def device_nodes(gpus: Sequence[Gpu]) -> list[tuple[str, int, int]]:
    """Gives path, major and minor of the device nodes of some GPUs."""
    return [*((f"/dev/nvidia{gpu.minor}", 195, gpu.minor) for gpu in gpus), ("/dev/nvidiactl", 195, 255)]


def write_script(kit: Kit, nvml: Nvml, gpus: Sequence[Gpu], path: Path = SCRIPT) -> Path:
    """Writes the nvidia-smi of a container with these GPUs and gives its path."""
    nvml.gpus = list(gpus)
    kit = Kit(texts=kit.texts, statuses=kit.statuses, data={**kit.data, "version": nvml.library})
    text = "#!/bin/sh\n# Stand-in of nvidia-smi in a container, written when the container started.\n"
    for call in _CALLS:
        output = io.StringIO()
        with redirect_stdout(output):
            status = nvidia_smi.run(call, kit=kit, open_nvml=lambda: nvml)
        text += f'if [ "$*" = {shlex.quote(" ".join(call))} ]; then\n'
        text += f"cat <<'END'\n{output.getvalue()}END\nexit {status}\nfi\n"
    text += 'echo "nvidia-smi (stand-in in a container): not supported: $*" >&2\nexit 2\n'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def edit_config(config: dict[str, Any], gpus: Sequence[Gpu], script: Path) -> None:
    """Adds devices, their cgroup rules and the script's mount to an OCI runtime configuration."""
    linux = config.setdefault("linux", {})
    devices = linux.setdefault("devices", [])
    rules = linux.setdefault("resources", {}).setdefault("devices", [])
    for path, major, minor in device_nodes(gpus):
        devices.append(
            {"path": path, "type": "c", "major": major, "minor": minor, "fileMode": 0o666, "uid": 0, "gid": 0}
        )
        rules.append({"allow": True, "type": "c", "major": major, "minor": minor, "access": "rwm"})
    mount = {"destination": "/usr/bin/nvidia-smi", "source": str(script), "type": "bind", "options": ["ro", "rbind"]}
    config.setdefault("mounts", []).append(mount)
