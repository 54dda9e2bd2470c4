"""The GPU models that a lab can show, with the values that hardware itself reports."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuModel:
    """One row of hardware facts.

    PCI ids, names and NVSwitch: the project's GPU table (pci.ids and NVIDIA's open kernel module README, 2026-11-30).
    Memory: `nvidia-smi --query-gpu=name,memory.total` as printed in public reports (searched 2026-11-30).
    """

    model: str
    """The catalog's id."""
    nvml_name: str
    """The name that NVML reports."""
    pci_device: str
    """The PCI device id under vendor 10de."""
    memory_mib: int
    """Memory of one GPU in MiB."""
    nvswitch: bool
    """Whether boards with this GPU carry NVSwitches."""
    counts: tuple[int, ...]
    """How many of them a server is sold with."""


MODELS: tuple[GpuModel, ...] = (
    GpuModel(
        model="H100-SXM5-80GB",
        nvml_name="NVIDIA H100 80GB HBM3",
        pci_device="2330",
        memory_mib=81559,
        nvswitch=True,
        counts=(8,),
    ),
    GpuModel(
        model="H200-SXM5-141GB",
        nvml_name="NVIDIA H200",
        pci_device="2335",
        memory_mib=143771,
        nvswitch=True,
        counts=(8,),
    ),
    GpuModel(
        model="A100-SXM4-80GB",
        nvml_name="NVIDIA A100-SXM4-80GB",
        pci_device="20b2",
        memory_mib=81920,
        nvswitch=True,
        counts=(8,),
    ),
    GpuModel(
        model="L40S",
        nvml_name="NVIDIA L40S",
        pci_device="26b9",
        memory_mib=46068,
        nvswitch=False,
        counts=(2, 4, 8),
    ),
    GpuModel(
        model="L4",
        nvml_name="NVIDIA L4",
        pci_device="27b8",
        memory_mib=23034,
        nvswitch=False,
        counts=(1, 2, 4, 8),
    ),
)
"""The models that a seed chooses from; each has the open kernel module in every branch of `DRIVER_RELEASES`."""

DRIVER_RELEASES: dict[str, tuple[str, ...]] = {
    "580": (
        "580.65.06",
        "580.82.07",
        "580.95.05",
        "580.105.08",
        "580.126.20",
        "580.142",
        "580.159.04",
        "580.173.02",
        "580.178.04",
    ),
    "595": ("595.45.04", "595.58.03", "595.71.05", "595.91.07", "595.112.07"),
}
"""Real releases by branch, oldest first (NVIDIA's release lists as in the project's driver table, 2026-11-30)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceRow:
    """An EC2 instance type with the GPUs of a rack's server, and some regions that offer it."""

    type: str
    model: str
    count: int
    regions: tuple[str, ...]


INSTANCES: tuple[InstanceRow, ...] = (
    InstanceRow(
        type="p5.48xlarge",
        model="H100-SXM5-80GB",
        count=8,
        regions=("us-east-1", "us-east-2", "us-west-2", "ap-northeast-1", "eu-north-1", "ca-central-1"),
    ),
    InstanceRow(
        type="p5en.48xlarge",
        model="H200-SXM5-141GB",
        count=8,
        regions=("us-east-1", "us-east-2", "us-west-2", "ap-south-1", "eu-north-1"),
    ),
    InstanceRow(
        type="p4de.24xlarge",
        model="A100-SXM4-80GB",
        count=8,
        regions=("us-east-1", "us-west-2", "eu-central-1", "ap-northeast-1"),
    ),
    InstanceRow(
        type="g6e.12xlarge",
        model="L40S",
        count=4,
        regions=("us-east-1", "us-east-2", "us-west-2", "eu-central-1", "eu-south-2"),
    ),
    InstanceRow(
        type="g6e.48xlarge",
        model="L40S",
        count=8,
        regions=("us-east-1", "us-east-2", "us-west-2", "eu-central-1", "ap-northeast-2"),
    ),
    InstanceRow(
        type="g6.xlarge",
        model="L4",
        count=1,
        regions=("us-east-1", "us-west-2", "eu-west-2", "eu-west-3", "ap-southeast-2", "sa-east-1"),
    ),
    InstanceRow(
        type="g6.12xlarge",
        model="L4",
        count=4,
        regions=("us-east-1", "us-west-2", "eu-west-2", "eu-west-3", "ap-southeast-2"),
    ),
    InstanceRow(
        type="g6.48xlarge",
        model="L4",
        count=8,
        regions=("us-east-1", "us-west-2", "eu-west-2", "ca-central-1", "ap-southeast-2"),
    ),
)
"""Types whose GPUs a seed may choose when rack and cloud are to be equal. GPUs and regions: DescribeInstanceTypes and
DescribeInstanceTypeOfferings as stored in moto 5.2.5 (2026-10); no type has two L40S or two L4."""
