"""The want of a pool: what every host of it must be."""

from collections.abc import Collection, Iterator
from dataclasses import asdict, replace
from typing import Final

from gpuprov.document.canonical import digest
from gpuprov.lock.types import Lock, LockedPool, LockedSource
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.spec.types import FileSpec, GpuSpec, PoolSpec, Spec
from gpuprov.want.access import SSHD_PATH, access_files, access_want
from gpuprov.want.cdi import cdi_file, cdi_service
from gpuprov.want.components import Components, wanted_units
from gpuprov.want.files import (
    DAEMON_PATH,
    MARKER,
    merge_json,
    mount_files,
    nouveau_file,
    pins_file,
    runtime_file,
    source_want,
)
from gpuprov.want.frameworks import frameworks_want
from gpuprov.want.kernel import kernel_file
from gpuprov.want.mounts import mount_paths, mount_wants
from gpuprov.want.packages import wanted_packages
from gpuprov.want.tuning import tuning_files, tuning_services, tuning_want
from gpuprov.want.types import DriverWant, FileWant, GpuWant, PackageWant, PoolWant, ServiceWant
from gpuprov.want.updates import updates_file

_RESERVED: Final = ("/var/lib/gpuprov/", "/etc/apt/sources.list.d/gpuprov-", "/etc/apt/keyrings/gpuprov-", SSHD_PATH)


def pool_want(lock: Lock, spec: Spec, pool: PoolSpec, target: str, *, components: Components) -> PoolWant:
    """Say what every host of a pool must be.

    Args:
        lock: holds the pool.
        spec: gives files and exporters.
        pool: the pool.
        target: `onprem` or `cloud`.
        components: the catalog's rows.

    Raises:
        GpuprovError: GP-SPEC-006 when the pool has a MIG layout: nothing brings it to hosts yet;
            GP-SPEC-005 when a file of the spec takes a path of gpuprov's own, or is to hold NVIDIA's runtime and is no
            JSON; GP-CAT-002 when the catalog has no NVML name for the pool's GPU; GP-LOCK-004 when the lock
            lacks the pool.
    """
    locked = lock.pools.get(pool.name)
    if locked is None:
        raise GpuprovError(_stale(pool.name))
    not_built = tuple(_not_built(pool, spec))
    if not_built:
        raise GpuprovError(*not_built)
    packages, written = wanted_packages(lock, locked), _written(lock, locked)
    names = {package.name for package in packages}
    tuning = tuning_want(spec.tuning, gpus=pool.gpu is not None)
    units = wanted_units(components, names, spec.exporters, gpus=pool.gpu is not None)
    driver = _driver(locked, pool)
    toolkit, containerd = bool(names & set(components.toolkit_packages)), _runs_containerd(pool)
    described = driver is not None and toolkit
    services = (*units, *tuning_services(tuning), *((cdi_service(),) if described else ()))
    own = (*access_files(spec.access), *tuning_files(tuning), *((cdi_file(),) if described else ()))
    mounts = mount_wants(spec.storage, spec.access, pool.name, target, {})
    own += mount_files(mounts)
    own += (runtime_file(components.engine_unit),) if toolkit and not containerd else ()
    want = PoolWant(
        pool=pool.name,
        target=target,
        os=locked.os,
        arch=locked.arch,
        packages=packages,
        sources=tuple(source_want(source, locked.arch) for source in written),
        files=_files(locked, packages, written, spec, own, mount_paths(spec.storage, pool.name)),
        services=services,
        exporters=_exporters(services),
        driver=driver,
        on_disk=locked.driver,
        gpu=_gpus(pool.gpu, f"pools.{pool.name}.gpu.model", components),
        verify=pool.verify,
        kernel=locked.kernel,
        access=access_want(spec.access),
        tuning=tuning,
        frameworks=frameworks_want(locked.frameworks),
        containerd=containerd and toolkit,
        mounts=mounts,
        digest="",
    )
    return replace(want, digest=digest(asdict(want)))


def _written(lock: Lock, locked: LockedPool) -> tuple[LockedSource, ...]:
    """The sources that the pool's hosts get: those that its packages come from."""
    used = {row.source for row in locked.packages}
    written = [source for source in lock.sources if source.on_host and source.name in used]
    return tuple(sorted(written, key=lambda source: source.name))


def _exporters(services: Collection[ServiceWant]) -> tuple[str, ...]:
    return tuple(sorted({service.exporter for service in services if service.exporter}))


def _driver(locked: LockedPool, pool: PoolSpec) -> DriverWant | None:
    if pool.gpu is None or pool.stack.driver is None or not locked.driver:
        return None
    return DriverWant(version=locked.driver, modules=pool.stack.driver.modules)


def _gpus(gpu: GpuSpec | None, address: str, components: Components) -> GpuWant | None:
    if gpu is None:
        return None
    names = components.nvml_names.get(gpu.model)
    if not names:
        raise GpuprovError(
            Diagnostic(
                code="GP-CAT-002",
                summary=f"the catalog has no NVML name for the GPU model {gpu.model}",
                address=address,
                hint=f"models with a name: {', '.join(sorted(components.nvml_names)) or 'none'}",
            )
        )
    return GpuWant(count=gpu.per_host, nvml_names=tuple(names))


def _files(
    locked: LockedPool,
    packages: tuple[PackageWant, ...],
    sources: tuple[LockedSource, ...],
    spec: Spec,
    own: tuple[FileWant, ...],
    units: Collection[str],
) -> tuple[FileWant, ...]:
    files = [*own]
    if packages:
        files += [pins_file(packages, sources), updates_file(package.name for package in packages)]
    if locked.driver:  # also without GPUs: an image made there boots on hosts with GPUs
        files.append(nouveau_file())
    if locked.kernel:
        files.append(kernel_file(locked.kernel, MARKER))
    ours = {file.path: file for file in files}
    for file in spec.files:
        if file.path in units:
            raise GpuprovError(_taken(spec, file.path, "gpuprov writes this path itself"))
        ours[file.path] = _spec_file(file, ours.get(file.path), spec)
    return tuple(ours[path] for path in sorted(ours))


def _runs_containerd(pool: PoolSpec) -> bool:
    return pool.stack.container is not None and pool.stack.container.engine == "containerd"


def _spec_file(file: FileSpec, ours: FileWant | None, spec: Spec) -> FileWant:
    text = file.text
    if ours is not None and ours.path == DAEMON_PATH:
        try:
            text = merge_json(file.text, ours.text)
        except ValueError as error:
            raise GpuprovError(
                _taken(spec, file.path, f"its text must be a JSON object to hold NVIDIA's runtime: {error}")
            ) from error
    elif ours is not None or file.path.startswith(_RESERVED):
        raise GpuprovError(_taken(spec, file.path, "gpuprov writes this path itself"))
    return FileWant(
        path=file.path,
        text=text,
        mode=file.mode,
        owner=file.owner,
        group=file.group,
        restarts=ours.restarts if ours is not None else (),
    )


def _taken(spec: Spec, path: str, summary: str) -> Diagnostic:
    address = f'files["{path}"]'
    return Diagnostic(
        code="GP-SPEC-005",
        summary=summary,
        address=address,
        hint=f"take the file out of `files:`; files of gpuprov begin with `{MARKER}`",
        span=spec.spans.get(address) or spec.spans.get(f"files.{path}"),
    )


def _not_built(pool: PoolSpec, spec: Spec) -> Iterator[Diagnostic]:
    """What the spec may say, and `validate` and `lock` understand, and nothing brings to hosts yet."""
    if pool.gpu is not None and pool.gpu.mig:
        what = "the MIG layout is checked, but this release does not set it up on hosts"
        yield _later(what, f"pools.{pool.name}.gpu.mig", "write `mig: null` to change hosts", spec)


def _later(summary: str, address: str, hint: str, spec: Spec) -> Diagnostic:
    return Diagnostic(
        code="GP-SPEC-006",
        summary=summary,
        address=address,
        hint=f"{hint}; `validate` and `lock` accept it",
        span=spec.spans.get(address),
    )


def _stale(pool: str) -> Diagnostic:
    return Diagnostic(
        code="GP-LOCK-004",
        summary=f"the lock does not hold the pool {pool}",
        address=f"pools.{pool}",
        hint="run `gpuprov lock`",
    )
