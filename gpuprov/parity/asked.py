"""What a spec alone asks of a host, before any lock: constraints where the lock has exact versions."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Final

from gpuprov.compare.facets import facet_of
from gpuprov.model.address import member_address
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Known, Unknown, Value
from gpuprov.spec.types import FileSpec, PoolSpec, Spec
from gpuprov.want.files import DAEMON_PATH
from gpuprov.want.types import Expectation

_ANY: Final = "*"
_Row = tuple[str, Value | Unknown, str, str]
"""Address, value, comparator, and the path of the spec that asks."""


def spec_expectations(spec: Spec, pool: PoolSpec, nvml_names: Mapping[str, tuple[str, ...]]) -> tuple[Expectation, ...]:
    """Say what the spec asks of every host of a pool.

    Args:
        spec: gives files and exporters.
        pool: gives OS, GPUs and stack, after inheritance.
        nvml_names: model of the catalog -> names that NVML may give it.
    """
    rows = (*_host(pool, nvml_names), *_driver(pool), *_stack(pool), *_packages(pool), *_files(spec), *_exporters(spec))
    return tuple(_expectation(*row) for row in rows)


def _expectation(address: str, value: Value | Unknown, comparator: str, path: str) -> Expectation:
    cost = facet_of(address).cost
    return Expectation(
        address=address,
        value=value if isinstance(value, Unknown) else Known(value),
        comparator=comparator,
        cost=cost,
        curable=cost not in {Cost.OBSERVED, Cost.REPLACEMENT},
        reason=f"spec: {path}",
    )


def _host(pool: PoolSpec, nvml_names: Mapping[str, tuple[str, ...]]) -> Iterator[_Row]:
    yield "host.os", pool.os, "equal", "os"
    if pool.gpu is not None:
        path = f"pools.{pool.name}.gpu"
        yield "gpu.count", pool.gpu.per_host, "equal", f"{path}.per_host"
        names: list[Value] = list(nvml_names.get(pool.gpu.model, ()))
        unnamed = Unknown(f"no NVML name of {pool.gpu.model} is known")
        yield "gpu.models", names or unnamed, "within", f"{path}.model"


def _driver(pool: PoolSpec) -> Iterator[_Row]:
    driver = pool.stack.driver
    if driver is None:
        return
    leaves = ("on_disk", "loaded", "nvml") if pool.gpu is not None else ("on_disk",)
    for leaf in leaves:
        yield f"stack.driver.{leaf}", driver.version, "constraint", "stack.driver.version"
    if pool.gpu is not None:
        yield "stack.driver.modules", driver.modules, "equal", "stack.driver.modules"


def _stack(pool: PoolSpec) -> Iterator[_Row]:
    stack = pool.stack
    if stack.cuda:
        yield "stack.cuda.toolkits", stack.cuda, "release", "stack.cuda"
    if stack.container is not None and stack.container.toolkit:
        yield "stack.container.toolkit", stack.container.toolkit, "constraint", "stack.container.toolkit"
    if stack.dcgm:
        yield "stack.dcgm.version", stack.dcgm, "constraint", "stack.dcgm"


def _packages(pool: PoolSpec) -> Iterator[_Row]:
    for package in pool.stack.packages:
        address = member_address("package", package.name, "version")
        yield address, package.version or _ANY, "constraint", "stack.packages"


def _files(spec: Spec) -> Iterator[_Row]:
    for file in spec.files:
        # The engine's file is merged with what the toolkit needs: its whole content stands in the want, not here.
        if file.path != DAEMON_PATH:
            yield from _file(file)


def _file(file: FileSpec) -> Iterator[_Row]:
    digest = hashlib.sha256(file.text.encode()).hexdigest()
    for leaf, text in (("sha256", digest), ("mode", file.mode), ("owner", file.owner), ("group", file.group)):
        yield member_address("file", file.path, leaf), text, "equal", f'files["{file.path}"]'


def _exporters(spec: Spec) -> Iterator[_Row]:
    for exporter in spec.exporters:
        yield member_address("exporter", exporter, "answers"), True, "equal", "monitoring.exporters"
