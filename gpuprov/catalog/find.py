"""Lookups over the catalog: pure functions from names and numbers to rows."""

import re
from functools import cache

from gpuprov.catalog.load import PACKAGED, Catalog, rows
from gpuprov.catalog.rows import (
    ArchitectureRow,
    BranchRow,
    ComponentRow,
    GpuRow,
    ImageRow,
    InstanceRow,
    NeverRow,
    PackagesRow,
    RepositoryRow,
    RetiredRow,
    ServiceRow,
    SystemRow,
    ToolkitRow,
)
from gpuprov.catalog.rows_cloud import PriceRow, RateRow
from gpuprov.model.version import Constraint, driver_branch


def gpu(model: str, catalog: Catalog = PACKAGED) -> GpuRow | None:
    """The row of a GPU model; None when the catalog has none."""
    return next((row for row in rows(GpuRow, catalog) if row.id == model), None)


def gpu_by_name(nvml_name: str, catalog: Catalog = PACKAGED) -> GpuRow | None:
    """The row of the GPU that NVML calls so."""
    return next((row for row in rows(GpuRow, catalog) if nvml_name in row.nvml_names), None)


def architecture(name: str, catalog: Catalog = PACKAGED) -> ArchitectureRow | None:
    """The row of a GPU architecture."""
    return next((row for row in rows(ArchitectureRow, catalog) if row.id == name), None)


def branch(number: int, catalog: Catalog = PACKAGED) -> BranchRow | None:
    """The row of a driver branch."""
    return next((row for row in rows(BranchRow, catalog) if row.number == number), None)


def toolkits(release: str, catalog: Catalog = PACKAGED) -> tuple[ToolkitRow, ...]:
    """All rows of a CUDA release, such as `13.0`, in the file's order (oldest first)."""
    return tuple(row for row in rows(ToolkitRow, catalog) if row.release == release)


def system(os: str, catalog: Catalog = PACKAGED) -> SystemRow | None:
    """The row of an operating system."""
    return next((row for row in rows(SystemRow, catalog) if row.id == os), None)


def repository(os: str, source: str = "nvidia", catalog: Catalog = PACKAGED) -> RepositoryRow | None:
    """The row of a vendor's repository for an operating system."""
    row = system(os, catalog)
    wanted = row.repository if row else ""
    return next((r for r in rows(RepositoryRow, catalog) if r.id == wanted and r.source == source), None)


def never(package: str, catalog: Catalog = PACKAGED) -> NeverRow | None:
    """Why a package is never locked; None for a package that may be."""
    return next((row for row in rows(NeverRow, catalog) if re.fullmatch(row.pattern, package)), None)


def branches_of(constraint: str, catalog: Catalog = PACKAGED) -> tuple[int, ...]:
    """The driver branches that a version constraint leaves open, newest first.

    A constraint on one branch (`580.*`, `580.95.05`) gives that branch, known to the catalog or not; a range gives the
    catalog's branches with a release in it.
    """
    first = re.fullmatch(r"=?=?\s*([0-9]{3})(\..*)?", constraint.strip())
    if first:
        return (int(first[1]),)
    allowed = Constraint.parse(constraint)
    # A branch counts when its newest release fits, or the first one that could have been made.
    found = [r.number for r in rows(BranchRow, catalog) if allowed.allows(r.latest) or allowed.allows(f"{r.id}.0")]
    return tuple(sorted(found, reverse=True))


def packages_for(
    part: str, *, family: str, origin: str, branch: int | None, modules: str = "", catalog: Catalog = PACKAGED
) -> PackagesRow | None:
    """The packages of a part of the stack.

    Args:
        part: driver, fabric, cuda, toolkit, dcgm or dcgm_exporter.
        family: OS family.
        origin: nvidia or os.
        branch: the driver's; None where there is no driver: rows with bounds do not fit then.
        modules: flavour of the kernel modules, for the driver.
        catalog: the rows in force.
    """
    for row in rows(PackagesRow, catalog):
        if (row.part, row.family, row.origin, row.modules) != (part, family, origin, modules):
            continue
        if branch is None and (row.min_branch is not None or row.max_branch is not None):
            continue
        if branch is not None and not (row.min_branch or 0) <= branch <= (row.max_branch or branch):
            continue
        return row
    return None


@cache
def component_of(package: str, catalog: Catalog = PACKAGED) -> str | None:
    """The part of the GPU stack that a package belongs to by its name; None when it belongs to none."""
    for row in rows(ComponentRow, catalog):
        if any(re.fullmatch(pattern, package) for pattern in row.patterns):
            return row.id
    return None


def services(catalog: Catalog = PACKAGED) -> tuple[ServiceRow, ...]:
    """All units that the stack brings."""
    return rows(ServiceRow, catalog)


def nvml_names(catalog: Catalog = PACKAGED) -> dict[str, tuple[str, ...]]:
    """For each GPU model whose NVML name is known: its names."""
    return {row.id: row.nvml_names for row in rows(GpuRow, catalog) if row.nvml_names}


def cuda_major(version: str, catalog: Catalog = PACKAGED) -> int | None:
    """The CUDA major that a driver reports (`580.95.05` gives 13); None when the catalog does not know its branch."""
    row = branch(driver_branch(version), catalog)
    return int(row.max_cuda.partition(".")[0]) if row and row.max_cuda else None


def instance(type_name: str, catalog: Catalog = PACKAGED) -> InstanceRow | None:
    """The row of an EC2 instance type."""
    return next((row for row in rows(InstanceRow, catalog) if row.id == type_name), None)


def retired(type_name: str, catalog: Catalog = PACKAGED) -> RetiredRow | None:
    """Why an EC2 instance type can no longer be had; None where nothing is known of it."""
    return next((row for row in rows(RetiredRow, catalog) if re.fullmatch(row.pattern, type_name)), None)


def instances_with(model: str, count: int, catalog: Catalog = PACKAGED) -> tuple[InstanceRow, ...]:
    """The instance types that have exactly so many GPUs of a model, those with the fewest CPUs first."""
    found = [row for row in rows(InstanceRow, catalog) if (row.gpu, row.gpus) == (model, count)]
    return tuple(sorted(found, key=lambda row: (row.vcpus or 0, row.memory_mib or 0, row.id)))


def image(os: str, arch: str, catalog: Catalog = PACKAGED) -> ImageRow | None:
    """Where the base images of an operating system and an architecture come from."""
    return next((row for row in rows(ImageRow, catalog) if (row.os, row.arch) == (os, arch)), None)


def price(instance: str, offer: str, region: str, catalog: Catalog = PACKAGED) -> PriceRow | None:
    """The price of an instance type in a region, or the one that holds in all regions."""
    found = [row for row in rows(PriceRow, catalog) if (row.instance, row.offer) == (instance, offer)]
    return next((row for where in (region, "") for row in found if row.region == where), None)


def rate(part: str, region: str, catalog: Catalog = PACKAGED) -> RateRow | None:
    """What a part around instances costs in a region, or the rate that holds in all regions.

    Args:
        part: such as `nat-gateway`; a row of another region has the id `nat-gateway/eu-west-1`.
        region: where it stands.
        catalog: the rows in force.
    """
    found = [row for row in rows(RateRow, catalog) if row.id.partition("/")[0] == part]
    return next((row for where in (region, "") for row in found if row.region == where), None)
