"""What to look at on a host besides what is always looked at."""

from dataclasses import dataclass

STACK_SERVICES = (
    "containerd",
    "dcgm-exporter",
    "docker",
    "nvidia-dcgm",
    "nvidia-dcgm-exporter",
    "nvidia-fabricmanager",
    "nvidia-imex",
    "nvidia-persistenced",
    "prometheus-node-exporter",
)
"""Units of the stack, as their packages name them; always looked at."""

EXPORTER_PORTS = {"node": 9100, "dcgm": 9400}
"""Where exporters answer: the defaults of prometheus-node-exporter and dcgm-exporter (their READMEs, 2026-11-30)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeRequest:
    """Files, services and exporters to look at."""

    paths: tuple[str, ...] = ()
    """Absolute paths of files."""
    services: tuple[str, ...] = ()
    """Units without `.service`, besides STACK_SERVICES."""
    settings: tuple[str, ...] = ()
    """Kernel settings with dots, besides those that are always looked at."""
    devices: tuple[str, ...] = ()
    """Paths of disks."""
    shares: tuple[str, ...] = ()
    """Places at which shared storage is to be mounted."""
    rights: tuple[str, ...] = ()
    """Places of mounts whose lists of access control are looked at."""
    exporters: tuple[str, ...] = ("dcgm", "node")
    """Names of EXPORTER_PORTS."""
