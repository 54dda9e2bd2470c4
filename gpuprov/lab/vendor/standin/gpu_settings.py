"""Settings of GPUs that last until the driver goes: the power limit, and that clocks are locked."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from gpuprov.lab.vendor.standin.arguments import has, option
from gpuprov.lab.vendor.standin.forms import Kit
from gpuprov.lab.vendor.standin.nvml import Gpu

_POWER = ("-pl", "--power-limit")
_LOCK = ("-lgc", "--lock-gpu-clocks")
_RESET = ("-rgc", "--reset-gpu-clocks")
_STATE = "run/gpuprov-lab-power.json"
"""Below a node's root: a boot forgets it, as a driver does."""
_LOWEST = 3
"""The least limit here is this part of the board's own; real boards differ."""


def change(arguments: Sequence[str], gpus: Sequence[Gpu], root: Path, kit: Kit) -> int | None:
    """Answers a call that changes GPUs, and gives its status; None when it is none."""
    if not has(arguments, *_RESET) and not option(arguments, *_POWER, *_LOCK):
        return None
    watts, clocks = option(arguments, *_POWER), option(arguments, *_LOCK)
    if watts:
        return _limit(int(watts.partition(".")[0]), gpus, root, kit)
    for gpu in gpus if clocks else ():
        low, _, high = clocks.partition(",")
        sys.stdout.write(kit.text("nvidia-smi.clocks-set", low=low, high=high or low, bus=gpu.bus_id))
    sys.stdout.write(kit.text("nvidia-smi.done"))
    return 0


def power_limit(gpu: Gpu, root: Path) -> int:
    """Gives the limit that is in force, in W."""
    return _limits(root).get(gpu.uuid, gpu.power_limit_w)


def _limit(watts: int, gpus: Sequence[Gpu], root: Path, kit: Kit) -> int:
    limits = _limits(root)
    for gpu in gpus:
        low = gpu.power_limit_w // _LOWEST
        if not low <= watts <= gpu.power_limit_w:
            values = {"watts": watts, "low": low, "high": gpu.power_limit_w, "bus": gpu.bus_id}
            return kit.stop("nvidia-smi.power-refused", **values)
        before = limits.get(gpu.uuid, gpu.power_limit_w)
        sys.stdout.write(kit.text("nvidia-smi.power-set", watts=watts, before=before, bus=gpu.bus_id))
        limits[gpu.uuid] = watts
        (root / _STATE).write_text(json.dumps(limits))
    sys.stdout.write(kit.text("nvidia-smi.done"))
    return 0


def _limits(root: Path) -> dict[str, int]:
    path = root / _STATE
    return dict(json.loads(path.read_text())) if path.exists() else {}
