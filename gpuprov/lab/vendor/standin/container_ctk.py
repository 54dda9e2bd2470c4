"""Stand-in for nvidia-ctk: `runtime configure` for docker and containerd, CDI, and the links below /dev/char."""

import json
import os
import stat
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpuprov.lab.vendor.standin.arguments import has, option
from gpuprov.lab.vendor.standin.container_edits import device_nodes, write_script
from gpuprov.lab.vendor.standin.forms import Kit, packed
from gpuprov.lab.vendor.standin.nvml import Nvml, NvmlError

RUNTIME = "/usr/bin/nvidia-container-runtime"
CDI_FOLDERS = (Path("/etc/cdi"), Path("/var/run/cdi"))


def main() -> int:
    """Runs nvidia-ctk."""
    kit = packed()
    arguments = sys.argv[1:]
    if arguments[:2] == ["runtime", "configure"]:
        return configure(kit, arguments[2:])
    if arguments[:2] == ["cdi", "generate"]:
        return generate(kit, arguments[2:])
    if arguments[:2] == ["cdi", "list"]:
        return list_devices(kit)
    if arguments == ["system", "create-dev-char-symlinks", "--create-all"]:
        return link_devices(Path("/dev"))
    sys.stderr.write(
        "nvidia-ctk (stand-in): only runtime configure, cdi generate, cdi list, system create-dev-char-symlinks "
        "and --version\n"
    )
    return 2


def configure(kit: Kit, arguments: Sequence[str]) -> int:
    """Adds the nvidia runtime to an engine's configuration, keeping everything else in it."""
    engine = option(arguments, "--runtime", default="docker")
    if engine == "docker":
        path = Path(option(arguments, "--config", default="/etc/docker/daemon.json"))
        config: dict[str, Any] = json.loads(path.read_text()) if path.exists() and path.read_text().strip() else {}
        config.setdefault("runtimes", {})["nvidia"] = {"args": [], "path": "nvidia-container-runtime"}
        if has(arguments, "--set-as-default", "--nvidia-set-as-default"):
            config["default-runtime"] = "nvidia"
        if has(arguments, "--cdi.enabled", "--enable-cdi"):
            config.setdefault("features", {})["cdi"] = True
        text = json.dumps(config, indent=4)
    elif engine == "containerd":
        path = Path(option(arguments, "--config", default="/etc/containerd/conf.d/99-nvidia.toml"))
        plugin = '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia'
        text = f'version = 2\n\n{plugin}]\nruntime_type = "io.containerd.runc.v2"\n\n'
        text += f'{plugin}.options]\nBinaryName = "{RUNTIME}"\n'
    else:
        sys.stderr.write(f"nvidia-ctk (stand-in): unrecognized runtime '{engine}'\n")
        return 1
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    sys.stderr.write(kit.text("nvidia-container-toolkit.configured", time=_now(), path=path, engine=engine))
    return 0


def generate(kit: Kit, arguments: Sequence[str]) -> int:
    """Writes a CDI specification of the GPUs; JSON, which is YAML as well."""
    try:
        nvml = Nvml()
    except NvmlError as error:
        reason = kit.text(error.form, **error.values).splitlines()[0]
        sys.stderr.write(kit.text("nvidia-container-toolkit.cdi-failed", time=_now(), reason=reason))
        return 1
    text = (
        json.dumps(specification(nvml, str(write_script(kit, nvml, list(nvml.gpus))), kit.data["cdi"]), indent=2) + "\n"
    )
    output = option(arguments, "--output")
    if output:
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        Path(output).write_text(text)
    else:
        sys.stdout.write(text)
    sys.stderr.write(kit.text("nvidia-container-toolkit.cdi-generated", time=_now(), cdi=kit.data["cdi"]))
    return 0


def specification(nvml: Nvml, script: str, version: str) -> dict[str, Any]:
    """Gives the CDI specification: one device per index and per UUID, and `all`."""

    def nodes(gpus: list[Any]) -> dict[str, Any]:
        paths = [{"path": path} for path, _, _ in device_nodes(gpus) if path != "/dev/nvidiactl"]
        return {"deviceNodes": paths}

    devices = [{"name": str(gpu.index), "containerEdits": nodes([gpu])} for gpu in nvml.gpus]
    devices += [{"name": gpu.uuid, "containerEdits": nodes([gpu])} for gpu in nvml.gpus]
    devices.append({"name": "all", "containerEdits": nodes(list(nvml.gpus))})
    edits = {
        "env": ["NVIDIA_VISIBLE_DEVICES=void"],
        "deviceNodes": [{"path": "/dev/nvidiactl"}],
        "mounts": [
            {"hostPath": host, "containerPath": inside, "options": ["ro", "nosuid", "nodev", "rbind", "rprivate"]}
            for host, inside in [(script, "/usr/bin/nvidia-smi"), *((path, path) for path in libraries(nvml))]
        ],
    }
    return {"cdiVersion": version, "kind": "nvidia.com/gpu", "devices": devices, "containerEdits": edits}


def libraries(nvml: Nvml) -> list[str]:
    """Gives the driver's libraries, whose names carry its version: a specification of another driver's is stale."""
    found = [
        path
        for name in ("libcuda", "libnvidia-ml")
        for path in sorted(nvml.root.glob(f"usr/lib/*/{name}.so.{nvml.library}"))
    ]
    return [f"/{path.relative_to(nvml.root)}" for path in found]


def link_devices(devices: Path) -> int:
    """Makes the links that runc and systemd know devices by, as `system create-dev-char-symlinks` does."""
    for path in sorted(devices.glob("nvidia*")):
        found = path.lstat()
        if not stat.S_ISCHR(found.st_mode):
            continue
        link = devices / "char" / f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}"
        link.parent.mkdir(exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(f"../{path.name}")
    return 0


def list_devices(kit: Kit) -> int:
    """Prints the devices of the specifications in the two CDI folders."""
    names = []
    for folder in CDI_FOLDERS:
        for path in sorted([*folder.glob("*.yaml"), *folder.glob("*.json")]):
            try:
                found = json.loads(path.read_text())
            except ValueError:
                sys.stderr.write(f"nvidia-ctk (stand-in): {path} was not written by this program; left out\n")
                continue
            names += [f"{found['kind']}={device['name']}" for device in found["devices"]]
    sys.stderr.write(kit.text("nvidia-container-toolkit.cdi-found", time=_now(), count=len(names)))
    sys.stdout.writelines(f"{name}\n" for name in names)
    return 0


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
