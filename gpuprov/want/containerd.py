"""containerd as the engine: the runtime that it must have, whatever files its configuration is put together from."""

from typing import Final

from gpuprov.model.fact import Value

CONFIG_PATH: Final = "/etc/containerd/config.toml"
RUNTIMES: Final = "stack.containerd.runtimes"
CRI: Final = "stack.containerd.cri"
UNIT: Final = "containerd"
RUNTIME: Final = "nvidia"
TYPE: Final = "io.containerd.runc.v2"
PROGRAM: Final = "/usr/bin/nvidia-container-runtime"


def wanted_runtimes() -> Value:
    """The runtimes that containerd must have, with their types; a runtime without a type starts nothing (case A18)."""
    return {RUNTIME: TYPE}
