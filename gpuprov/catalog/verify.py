"""Checks over the whole catalog that no single row can fail: references, duplicates, dates."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from gpuprov.catalog.find import retired
from gpuprov.catalog.load import FILES, PACKAGED, Catalog, rows
from gpuprov.catalog.rows import (
    ArchitectureRow,
    BranchRow,
    DcgmRow,
    GpuRow,
    ImageRow,
    InstanceRow,
    NeverRow,
    PackagesRow,
    RepositoryRow,
    ServiceRow,
    SystemRow,
    ToolkitRow,
)
from gpuprov.catalog.verify_cloud import cloud_problems
from gpuprov.catalog.verify_forms import broken_forms
from gpuprov.catalog.verify_stack import stack_problems
from gpuprov.model.version import Constraint, compare_driver, driver_branch

_ARCHITECTURES: Final = ("amd64", "arm64")
_DATE: Final = re.compile(r"20[0-9]{2}(-[0-9]{2}(-[0-9]{2})?)?")
_CAPABILITY: Final = re.compile(r"[1-9][0-9]?\.[0-9]")
_PROFILE: Final = re.compile(r"([1-7])g\.[1-9][0-9]{0,2}gb[+a-z.-]*:([1-7])")
_MONTH: Final = re.compile(r"20[0-9]{2}-(0[1-9]|1[0-2])")


def problems(catalog: Catalog = PACKAGED) -> tuple[str, ...]:
    """Everything that is wrong with a catalog, one sentence each, begun with its table; empty when it is sound."""
    broken = tuple(broken_forms(catalog))
    if broken:
        return broken  # the other checks match and compare with them
    return (
        *_sources(catalog),
        *_gpus(catalog),
        *_branches(catalog),
        *_order_of_branches(catalog),
        *_toolkits(catalog),
        *_systems(catalog),
        *_packages(catalog),
        *_services(catalog),
        *_dcgm(catalog),
        *_instances(catalog),
        *_images(catalog),
        *stack_problems(catalog),
        *cloud_problems(catalog),
    )


def _sources(catalog: Catalog) -> Iterator[str]:
    for name in FILES:
        found = catalog.table(name)
        if not re.fullmatch(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", found.as_of):
            yield f"{name}: as_of is no date"
        for key, source in found.sources.items():
            if not _DATE.fullmatch(source.as_of) or source.as_of > found.as_of or not source.title:
                yield f"{name}: the source {key} has no title, or no date up to the file's"
        for field, keys in found.backing.items():
            if field not in FILES[name].__dataclass_fields__ or not set(keys) <= set(found.sources):
                yield f"{name}: what backs the field {field} is no source, or there is no such field"
        used = {key for row in found.rows for key in row.sources}
        for key in sorted(set(found.sources) - used):
            yield f"{name}: no row uses the source {key}"


def _gpus(catalog: Catalog) -> Iterator[str]:
    names: dict[str, str] = {}
    devices: dict[str, str] = {}
    known = {row.id for row in rows(ArchitectureRow, catalog)}
    floors = {row.id: row.min_driver for row in rows(ArchitectureRow, catalog)}
    for row in rows(GpuRow, catalog):
        if row.architecture not in known:
            yield f"gpus: {row.id} has the unknown architecture {row.architecture}"
        floor = floors.get(row.architecture)
        if row.min_driver and floor and compare_driver(row.min_driver, floor) < 0:
            yield f"gpus: the lowest driver of {row.id} is older than its architecture's"
        if row.fabric is not None and row.fabric not in {"none", "nvswitch", "nvlsm", "external"}:
            yield f"gpus: {row.id} has the unknown fabric {row.fabric}"
        for name in row.nvml_names:
            if names.setdefault(name, row.id) != row.id:
                yield f"gpus: NVML's name {name} is of {names[name]} and {row.id}"
        for device in row.pci_ids:
            if not re.fullmatch(r"[0-9a-f]{4}", device) or devices.setdefault(device, row.id) != row.id:
                yield f"gpus: the device {device} of {row.id} is no id, or another row's"
        if row.compute_capability is not None and not _CAPABILITY.fullmatch(row.compute_capability):
            yield f"gpus: the compute capability of {row.id} is not major.minor"
        yield from _mig(row)


def _mig(row: GpuRow) -> Iterator[str]:
    for text in row.mig_profiles:
        found = _PROFILE.fullmatch(text)
        if found is None:
            yield f"gpus: {row.id} has the MIG profile {text}, which is not PROFILE:MOST"
        elif row.mig_instances is not None and int(found[1]) * int(found[2]) > row.mig_instances:
            yield f"gpus: {row.id} has more of the MIG profile {text} than slices"


def _branches(catalog: Catalog) -> Iterator[str]:
    known = {row.listed_as or row.id for row in rows(ArchitectureRow, catalog)}
    limits = {row.id: row.max_branch for row in rows(ArchitectureRow, catalog)}
    for row in rows(BranchRow, catalog):
        if driver_branch(row.latest) != row.number:
            yield f"branches: the latest of {row.id} is of another branch"
        for name in row.architectures:
            limit = limits.get(name)
            if name not in known or (limit is not None and row.number > limit):
                yield f"branches: {row.id} lists {name}, which is unknown or has left it"
        if row.end_of_support is not None and not _MONTH.fullmatch(row.end_of_support):
            yield f"branches: the end of {row.id} is no month"
        if [driver_branch(release) for release in row.releases] != [row.number] * len(row.releases):
            yield f"branches: {row.id} has a release of another branch"
        if any(compare_driver(a, b) >= 0 for a, b in pairwise(row.releases)):
            yield f"branches: the releases of {row.id} are not in order"
        if row.releases and row.releases[-1] != row.latest:
            yield f"branches: the latest of {row.id} is not its last release"
        if row.status not in {None, "supported", "ended", "superseded"}:
            yield f"branches: {row.id} has the unknown status {row.status}"


def _order_of_branches(catalog: Catalog) -> Iterator[str]:
    """A later branch reports no older CUDA; an architecture does not end before it begins."""
    found = sorted((row for row in rows(BranchRow, catalog) if row.max_cuda is not None), key=lambda row: row.number)
    for before, after in pairwise(found):
        if [int(n) for n in (before.max_cuda or "").split(".")] > [int(n) for n in (after.max_cuda or "").split(".")]:
            yield f"branches: {after.id} reports an older CUDA than {before.id}"
    for row in rows(ArchitectureRow, catalog):
        if row.min_driver and row.max_branch is not None and driver_branch(row.min_driver) > row.max_branch:
            yield f"architectures: {row.id} ends before it begins"


def _toolkits(catalog: Catalog) -> Iterator[str]:
    for row in rows(ToolkitRow, catalog):
        if not row.id.startswith(f"{row.release}."):
            yield f"toolkits: {row.id} is not of {row.release}"
        if row.bundled_driver is not None and compare_driver(row.bundled_driver, row.min_driver) < 0:
            yield f"toolkits: {row.id} bundles a driver that is older than its lowest"
        if not all(_CAPABILITY.fullmatch(text) for text in (row.min_capability or "1.0", *row.new_capabilities)):
            yield f"toolkits: a compute capability of {row.id} is not major.minor"
    for release in {row.release for row in rows(ToolkitRow, catalog)}:
        if len({row.min_driver for row in rows(ToolkitRow, catalog) if row.release == release}) > 1:
            yield f"toolkits: the lowest driver differs within {release}"


def _systems(catalog: Catalog) -> Iterator[str]:
    repositories = {row.id: row for row in rows(RepositoryRow, catalog)}
    for row in rows(SystemRow, catalog):
        repository = repositories.get(row.repository)
        if row.built and not row.kernel_image:
            yield f"systems: {row.id} is built, and the package of its kernel is not known"
        if repository is None:
            yield f"systems: {row.id} names the unknown repository {row.repository}"
        elif row.built and not (row.engine and row.node_exporter and repository.fingerprint and repository.url):
            yield f"systems: {row.id} is built, and something about it is not known"
        for guide in row.guides:
            if guide not in {branch.id for branch in rows(BranchRow, catalog)}:
                yield f"systems: {row.id} names the guide of the unknown branch {guide}"
    for repository in repositories.values():
        if repository.fingerprint is not None and not re.fullmatch(r"[0-9A-F]{40}", repository.fingerprint):
            yield f"repositories: the fingerprint of {repository.id} has not 40 hex digits"


def _packages(catalog: Catalog) -> Iterator[str]:
    found = rows(PackagesRow, catalog)
    for index, row in enumerate(found):
        if row.equal not in {"", "driver", "part"} or not set(row.free) <= set(row.packages):
            yield f"packages: {row.id} has an unknown `equal`, or frees a package that it has not"
        if row.min_branch is not None and row.max_branch is not None and row.min_branch > row.max_branch:
            yield f"packages: {row.id} ends before it begins"
        if set(row.apart) & set(row.packages):
            yield f"packages: {row.id} sets a package apart that it has itself; `free` is for these"
        for other in found[:index]:
            same = all(getattr(row, key) == getattr(other, key) for key in ("part", "family", "origin", "modules"))
            apart = (row.min_branch or 0) > (other.max_branch or 999) or (other.min_branch or 0) > (
                row.max_branch or 999
            )
            if same and not apart:
                yield f"packages: {row.id} and {other.id} answer the same question"


def _services(catalog: Catalog) -> Iterator[str]:
    """What is never locked by name, and the units, against what the catalog itself asks for."""
    found = rows(PackagesRow, catalog)
    locked = {re.sub(r"<[^>]*>", "580", name) for row in found for name in row.packages}
    locked |= {name for row in rows(SystemRow, catalog) for name in (*row.engine, row.node_exporter or "")}
    for never in rows(NeverRow, catalog):
        for name in sorted(name for name in locked if re.fullmatch(never.pattern, name)):
            yield f"never: {never.id} forbids {name}, which the catalog itself asks for"
    for service in rows(ServiceRow, catalog):
        if not set(service.packages) & locked:
            yield f"services: no package of {service.id} is ever locked"
    serving = {name for service in rows(ServiceRow, catalog) for name in service.packages}
    suffixed = [(row, name) for row in found for name in row.packages if name.startswith("nvidia-fabricmanager-")]
    for row, name in suffixed:
        below = [b.id for b in rows(BranchRow, catalog) if (row.min_branch or 0) <= b.number <= (row.max_branch or 999)]
        for missing in sorted({name.replace("<branch>", branch) for branch in below} - serving):
            yield f"services: no unit is served by {missing}"


def _dcgm(catalog: Catalog) -> Iterator[str]:
    known = {row.id for row in rows(ArchitectureRow, catalog)}
    for row in rows(DcgmRow, catalog):
        try:
            Constraint.parse(row.versions)
        except ValueError as error:
            yield f"dcgm: {row.id}: {error}"
        if row.verdict not in {"refuse", "warn"} or not set(row.architectures) <= known:
            yield f"dcgm: {row.id} has an unknown verdict or architecture"


def _instances(catalog: Catalog) -> Iterator[str]:
    models = {row.id for row in rows(GpuRow, catalog)}
    for row in rows(InstanceRow, catalog):
        if row.gpu and row.gpu not in models:
            yield f"instances: {row.id} has the unknown GPU {row.gpu}"
        if (row.gpu == "") != (row.gpu_name == "") or (row.gpu == "" and row.gpus != 0):
            yield f"instances: {row.id} names a GPU in one field and none in the other"
        if row.arch not in _ARCHITECTURES:
            yield f"instances: {row.id} has the unknown architecture {row.arch}"
        gone = retired(row.id, catalog)
        if gone is not None:
            yield f"instances: {row.id} is there, and retired has it as {gone.id}"
        if any(number is not None and number <= 0 for number in (row.vcpus, row.memory_mib)):
            yield f"instances: {row.id} has no CPU or no memory"


def _images(catalog: Catalog) -> Iterator[str]:
    systems = {row.id: row for row in rows(SystemRow, catalog)}
    found = {(row.os, row.arch) for row in rows(ImageRow, catalog)}
    for row in rows(ImageRow, catalog):
        if row.os not in systems or row.arch not in _ARCHITECTURES or row.id != f"{row.os}-{row.arch}":
            yield f"images: {row.id} is not named by a known system and architecture"
        if not re.fullmatch(r"[0-9]{12}", row.owner) or not row.name.endswith("*") or not row.user:
            yield f"images: {row.id} has no account, name pattern or login user"
    for system in systems.values():
        if system.built and (system.id, "amd64") not in found:
            yield f"images: there is no base image for {system.id}"
