"""The GPUs of an EC2 instance type, as the hardware of a node."""

from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES

from gpuprov.lab.aws.errors import lab_refusal
from gpuprov.lab.description import GpuDescription
from gpuprov.lab.gpus import MODELS, GpuModel

_MODELS = {
    ("L4", 22888): "L4",
    ("L40S", 45776): "L40S",
    ("A100", 81920): "A100-SXM4-80GB",
    ("H100", 81920): "H100-SXM5-80GB",
    ("H200", 144384): "H200-SXM5-141GB",
}
"""DescribeInstanceTypes' name and memory (MiB) -> the lab's model (p4de, p5, p5e, p5en are SXM boards: EC2's pages of
the types, 2026-11-30)."""
_WHOLE_BOARD = 8
"""Only a whole board of eight shows its NVSwitches; p5.4xlarge has one GPU of a board."""


def gpus_of(instance_type: str) -> GpuDescription | None:
    """Return the GPUs of an instance type; None for a type without any.

    Raises:
        Exception: EC2's error Unsupported; the lab cannot show these GPUs.
    """
    row: dict[str, Any] = INSTANCE_TYPES[instance_type]
    found = row.get("GpuInfo", {}).get("Gpus", [])
    if not found:
        return None
    gpu = found[0]
    name, memory, count = gpu["Name"], gpu["MemoryInfo"]["SizeInMiB"], gpu["Count"]
    model = _MODELS.get((name, memory))
    if len(found) != 1 or model is None or not count:
        raise lab_refusal(f"the GPUs of {instance_type} ({count} x {name}, {memory} MiB) cannot be shown here")
    hardware = _hardware(model)
    return GpuDescription(
        model=model,
        nvml_name=hardware.nvml_name,
        count=count,
        nvswitch=hardware.nvswitch and count == _WHOLE_BOARD,
        pci_device=hardware.pci_device,
        memory_mib=hardware.memory_mib,
    )


def vcpus_of(instance_type: str) -> int:
    """Return how many vCPUs an instance type counts for in a quota."""
    return int(INSTANCE_TYPES[instance_type]["VCpuInfo"]["DefaultVCpus"])


def _hardware(model: str) -> GpuModel:
    """Return the lab's row of a model."""
    return next(row for row in MODELS if row.model == model)
