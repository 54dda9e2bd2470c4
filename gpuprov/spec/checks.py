"""Checks across fields of a spec: names that must exist, fields that exclude each other, what the catalog knows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpuprov.catalog.find import gpu, never, system
from gpuprov.catalog.load import PACKAGED, Catalog, rows
from gpuprov.catalog.rows import GpuRow, SystemRow
from gpuprov.model.address import join
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.access_checks import access_problems, tuning_problems
from gpuprov.spec.cloud_checks import cloud_problems
from gpuprov.spec.rights_checks import rights_problems
from gpuprov.spec.rollout_checks import rollout_problems
from gpuprov.spec.stack import StackSpec
from gpuprov.spec.suggest import did_you_mean
from gpuprov.spec.tree import Decoder
from gpuprov.spec.types import SourceSpec
from gpuprov.spec.written import WrittenSpec

CATALOG_SOURCES = ("nvidia", "os")
"""Sources that need no entry under `sources`."""
PYTHON = "python"
"""Type of a source that is an index of Python packages."""
PYPI = "pypi"
"""The index of Python packages that needs no entry."""


def check_spec(spec: WrittenSpec, decoder: Decoder, catalog: Catalog = PACKAGED) -> None:
    """Run every check on what was decoded; problems go to the decoder, fields that were not decoded are left alone."""
    for problem in _problems(spec, decoder, catalog):
        if decoder.sound(problem.address):
            decoder.refuse(problem.address, replace(problem, span=decoder.span(problem.address)))


def _problems(spec: WrittenSpec, decoder: Decoder, catalog: Catalog) -> Iterator[Diagnostic]:
    yield from _system(spec.os, "os", catalog)
    for name, source in spec.sources.items():
        yield from _source(name, source, join("sources", name), decoder)
        for index, os in enumerate(source.systems):
            yield from _system(os, f"{join('sources', name)}.systems[{index}]", catalog)
    # The spec's own stack first: what a pool inherits is then told once, where it was written.
    yield from _stack(spec.stack, "stack", spec, catalog)
    yield from _target_stacks(spec, catalog)
    yield from _pools(spec, decoder, catalog)
    yield from _repeated(spec.monitoring.exporters, "monitoring.exporters", "exporter")
    yield from cloud_problems(spec)
    yield from access_problems(spec.access) if spec.access is not None else ()
    yield from rights_problems(spec)
    yield from tuning_problems(spec.tuning) if spec.tuning is not None else ()


def _pools(spec: WrittenSpec, decoder: Decoder, catalog: Catalog) -> Iterator[Diagnostic]:
    if not spec.pools and not any(address.startswith("pools") for address in decoder.broken):
        yield Diagnostic(
            code="GP-SPEC-004", summary="the spec has no pool", address="pools", hint="write at least one pool"
        )
    groups: dict[str, str] = {}
    for name, pool in spec.pools.items():
        at = join("pools", name)
        if pool.os is not None:
            yield from _system(pool.os, f"{at}.os", catalog)
        if pool.gpu is not None and gpu(pool.gpu.model, catalog) is None:
            yield Diagnostic(
                code="GP-CAT-002",
                summary=f"the catalog has no GPU {pool.gpu.model}",
                address=f"{at}.gpu.model",
                detail="Models: " + ", ".join(row.id for row in rows(GpuRow, catalog)) + ".",
                hint=did_you_mean(pool.gpu.model, [row.id for row in rows(GpuRow, catalog)])
                or "write a row of your own in gpus.yaml, in a folder that `catalog:` names",
            )
        if pool.onprem is not None and decoder.sound(f"{at}.onprem.group"):
            first = groups.setdefault(pool.onprem.group, name)
            if first != name:
                yield Diagnostic(
                    code="GP-SPEC-005",
                    summary=f"the group {pool.onprem.group} is the pool {first}'s already",
                    address=f"{at}.onprem.group",
                    detail="A host belongs to one pool.",
                    hint="make one group of the inventory for each pool",
                )
        yield from rollout_problems(pool, at)
        if pool.stack is not None:
            yield from _stack(pool.stack, f"{at}.stack", spec, catalog)


def _system(os: str, address: str, catalog: Catalog) -> Iterator[Diagnostic]:
    row = system(os, catalog)
    if row is not None and row.built:
        return
    built = [r.id for r in rows(SystemRow, catalog) if r.built]
    known = "is known, but not built yet" if row else "is not known"
    yield Diagnostic(
        code="GP-SPEC-007",
        summary=f"the operating system {os} {known}",
        address=address,
        detail=f"This release supports {', '.join(built)}.",
        hint="" if row else did_you_mean(os, built),
    )


def _source(name: str, source: SourceSpec, at: str, decoder: Decoder) -> Iterator[Diagnostic]:
    def needs(key: str, hint: str) -> Diagnostic:
        return Diagnostic(
            code="GP-SPEC-004", summary=f"the source {name} needs the key {key}", address=f"{at}.{key}", hint=hint
        )

    if not source.url:
        yield needs("url", 'write `url: "https://mirror.example/apt"`')
    if source.type == PYTHON:
        yield from _python_source(name, source, at)
        return
    if not source.key and name not in CATALOG_SOURCES:
        yield needs(
            "key", "write the path of the public key that signs the repository; it is never taken from the host"
        )
    for key, value in (("suite", source.suite), ("components", source.components)):
        if source.flat and value:
            yield Diagnostic(
                code="GP-SPEC-005",
                summary=f"a flat repository has no {key}",
                address=f"{at}.{key}",
                hint=f"take `{key}` away, or `flat`",
            )
        if not source.flat and not value and source.url and decoder.sound(f"{at}.flat"):
            yield needs(key, f"write `{key}`, or `flat: true` for a repository without suites")
    yield from _repeated(source.components, f"{at}.components", "component")
    yield from _repeated(source.systems, f"{at}.systems", "operating system")
    yield from _repeated(source.architectures, f"{at}.architectures", "architecture")


def _python_source(name: str, source: SourceSpec, at: str) -> Iterator[Diagnostic]:
    given = {
        "suite": source.suite,
        "components": source.components,
        "flat": source.flat,
        "key": source.key,
        "systems": source.systems,
        "architectures": source.architectures,
        "priority": source.priority,
    }
    for key, value in given.items():
        if value:
            yield Diagnostic(
                code="GP-SPEC-005",
                summary=f"an index of Python packages has no {key}",
                address=f"{at}.{key}",
                hint=f"take `{key}` away; what comes from the index is checked by the digests in the lock",
            )
    if name in CATALOG_SOURCES:
        yield Diagnostic(
            code="GP-SPEC-005", summary=f"the source {name} holds Debian packages", address=f"{at}.type",
            hint="give the index another name, such as pytorch; `pypi` replaces the default index",
        )  # fmt: skip


def _stack(stack: StackSpec, at: str, spec: WrittenSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    known = [*CATALOG_SOURCES, *(name for name, source in spec.sources.items() if source.type != PYTHON)]
    if stack.driver is not None and stack.driver.source not in known:
        yield Diagnostic(
            code="GP-SPEC-008",
            summary=f"there is no source {stack.driver.source}",
            address=f"{at}.driver.source",
            detail=f"Sources: {', '.join(dict.fromkeys(known))}.",
            hint=did_you_mean(stack.driver.source, known) or f"add it: `sources: {{{stack.driver.source}: ...}}`",
        )
    for index, package in enumerate(stack.packages):
        row = never(package.name, catalog)
        if row is not None:
            yield Diagnostic(
                code="GP-SPEC-005",
                summary=f"the package {package.name} is never installed by name: {row.reason}",
                address=f"{at}.packages[{index}]",
                hint=f"write {row.use} instead",
            )
    yield from _repeated([package.name for package in stack.packages], f"{at}.packages", "package")
    yield from _frameworks(stack, join(at, "frameworks"), spec)


def _frameworks(stack: StackSpec, at: str, spec: WrittenSpec) -> Iterator[Diagnostic]:
    known = list(dict.fromkeys([PYPI, *(name for name, source in spec.sources.items() if source.type == PYTHON)]))
    bare: dict[str, str] = {}
    for name, framework in stack.frameworks.items():
        if framework is None:
            continue
        first = bare.setdefault(name.partition("[")[0], name)
        if first != name:
            yield Diagnostic(
                code="GP-SPEC-005",
                summary=f"the Python package of {name} is asked for as {first} already",
                address=join(at, name),
                hint="write one of the two, with all extras",
            )
        if framework.source not in known:
            yield Diagnostic(
                code="GP-SPEC-008",
                summary=f"there is no source of Python packages {framework.source}",
                address=f"{join(at, name)}.source",
                detail=f"Sources: {', '.join(known)}.",
                hint=did_you_mean(framework.source, known)
                or f"add it: `sources: {{{framework.source}: {{type: python, url: ...}}}}`",
            )


def _repeated(values: Sequence[str], at: str, what: str) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value and value in seen:
            yield Diagnostic(
                code="GP-SPEC-005",
                summary=f"the {what} {value} is written twice",
                address=f"{at}[{index}]",
                hint="take one of the two away",
            )
        seen.add(value)


def _target_stacks(spec: WrittenSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Check each target's own stack, and refuse it beside pools that are on both: a lock holds one for each pool."""
    both = [name for name, pool in spec.pools.items() if pool.onprem is not None and pool.cloud is not None]
    for name, target in (("onprem", spec.targets.onprem), ("cloud", spec.targets.cloud)):
        if target is None or target.stack is None:
            continue
        at = f"targets.{name}.stack"
        yield from _stack(target.stack, at, spec, catalog)
        if both:
            yield Diagnostic(
                code="GP-SPEC-005",
                summary=f"{_pools_of(both)} hosts on both targets, and a pool has one stack",
                address=at,
                detail="A pool's hosts are equal by intention, wherever they are; the lock holds one stack for it.",
                hint="give the hosts of each target a pool of their own, or override at the pools: `pools.NAME.stack`",
            )


def _pools_of(names: Sequence[str]) -> str:
    return f"the pool {names[0]} has" if len(names) == 1 else f"the pools {', '.join(names)} have"
