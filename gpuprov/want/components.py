"""What want needs of the catalog: the units that packages bring, and the names that NVML gives a GPU."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from gpuprov.want.types import ServiceWant


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitRow:
    """One systemd unit that must run where one of its packages is locked."""

    name: str
    """Without `.service`."""
    packages: tuple[str, ...]
    """The unit is wanted where any of them is locked; its name may differ by OS and branch."""
    gpu: bool = False
    """Whether it is wanted only where the pool has GPUs."""
    exporter: str = ""
    """Name of the exporter that it serves (`node`, `dcgm`); wanted only where the spec asks for the exporter."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Components:
    """The rows of the catalog that a want is made with."""

    units: tuple[UnitRow, ...]
    nvml_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Model of the spec -> names that NVML may give it."""
    toolkit_packages: tuple[str, ...] = ("nvidia-container-toolkit",)
    """Where one of them is locked, the container engine is given NVIDIA's runtime."""
    engine_unit: str = "docker"
    """The unit that restarts when the engine's configuration changes."""


def wanted_units(
    rows: Components, locked: Collection[str], exporters: Collection[str], *, gpus: bool
) -> tuple[ServiceWant, ...]:
    """Give the units of a pool, by name.

    Args:
        rows: the catalog's.
        locked: names of the pool's packages.
        exporters: what the spec asks for.
        gpus: whether the pool has GPUs.
    """
    units = []
    for row in sorted(rows.units, key=lambda unit: unit.name):
        packages = tuple(sorted(set(row.packages) & set(locked)))
        if not packages or (row.gpu and not gpus) or (row.exporter and row.exporter not in exporters):
            continue
        units.append(ServiceWant(name=row.name, packages=packages, gpu=row.gpu, exporter=row.exporter))
    return tuple(units)
