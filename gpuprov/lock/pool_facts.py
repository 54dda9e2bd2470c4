"""What a spec and a lock say of a pool, as the rules read it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gpuprov.catalog.find import branches_of
from gpuprov.lock.architecture import builder_architectures, pool_architecture
from gpuprov.model.version import Constraint, driver_branch, upstream
from gpuprov.rules.facts import Addresses, FrameworkFacts, InstanceFacts, PoolFacts
from gpuprov.spec.stack import FREE, HOLD, FrameworkSpec
from gpuprov.spec.types import PoolSpec, Spec

if TYPE_CHECKING:
    from gpuprov.lock.types import Lock, LockedPool

_VARIANT: Final = re.compile(r"/(cu[0-9]{2,3})/?$")
"""CUDA variant at the end of an index's URL."""
_PYTHON: Final = re.compile(r"(?:==)?\s*([0-9]+(?:\.[0-9]+)*)(?:\.\*)?(?:\+(cu[0-9]+))?")


def pool_facts(spec: Spec, pool: PoolSpec) -> PoolFacts:
    """What a spec says of a pool, before anything is locked."""
    stack, driver, container = pool.stack, pool.stack.driver, pool.stack.container
    exact = Constraint.parse(driver.version).version if driver is not None else ""
    source = spec.sources.get(driver.source) if driver is not None else None
    return PoolFacts(
        pool=pool.name,
        gpu_models=(pool.gpu.model,) if pool.gpu else (),
        driver=upstream(exact) if exact else "",
        branches=branches_of(driver.version, spec.catalog) if driver else (),
        modules=driver.modules if driver else "",
        from_os=driver is not None and driver.source == "os",
        source_url=source.url if source is not None else "",
        cuda=stack.cuda or "",
        fabric=stack.fabric,
        dcgm=_known_part(stack.dcgm or ""),
        engine=container.engine if container else "",
        toolkit=_known_part(container.toolkit) if container else "",
        frameworks=tuple(_frameworks(spec, pool)),
        mig=tuple(name for name, count in _mig(pool) for _ in range(count)),
        packages=tuple(package.name for package in stack.packages),
        os=pool.os,
        arch=pool_architecture(spec, pool),
        kernel="" if stack.kernel in {FREE, HOLD} else stack.kernel,
        catalog=spec.catalog,
        addresses=_addresses(spec, pool),
    )


def with_lock(facts: PoolFacts, locked: "LockedPool", lock: "Lock", source: str) -> PoolFacts:
    """The same with the exact versions of a lock.

    Args:
        facts: of the pool, from its spec.
        locked: the pool in the lock.
        lock: the whole lock.
        source: name of the source that the driver comes from.
    """
    versions = {row.name: row.version for row in locked.packages}
    dcgm = next((upstream(v) for name, v in versions.items() if name.startswith("datacenter-gpu-manager-4-core")), "")
    toolkit = versions.get("nvidia-container-toolkit", "")
    keys = next((found.fingerprints for found in lock.sources if found.name == source), ())
    facts = replace(
        facts,
        dcgm=dcgm,
        toolkit=upstream(toolkit) if toolkit else "",
        locked=versions,
        source_keys=keys,
        frameworks=tuple(_locked_frameworks(locked)),
        kernel=locked.kernel,
    )
    if not locked.driver:
        return facts
    return replace(facts, driver=locked.driver, branches=(driver_branch(locked.driver),))


def instance_facts(spec: Spec) -> Iterator[InstanceFacts]:
    """The instance types that a spec names, as the rules read them: those of its pools, and the image builder's."""
    for pool in spec.pools.values():
        if pool.cloud is not None:
            yield InstanceFacts(
                type=pool.cloud.instance,
                arch=pool_architecture(spec, pool),
                address=f"pools.{pool.name}.cloud.instance",
                pool=pool.name,
                gpu_model=pool.gpu.model if pool.gpu else "",
                gpu_count=pool.gpu.per_host if pool.gpu else 0,
                region=spec.cloud.region if spec.cloud is not None else "",
                market=pool.cloud.market.kind,
                efa=pool.cloud.efa or "",
                close=pool.cloud.placement is not None,
                public=spec.cloud is not None and spec.cloud.network.public,
                catalog=spec.catalog,
            )
    if spec.cloud is not None:
        for arch in builder_architectures(spec):
            yield InstanceFacts(
                type=spec.cloud.image.builder,
                arch=arch,
                address="targets.cloud.image.builder",
                region=spec.cloud.region,
                catalog=spec.catalog,
            )


def _mig(pool: PoolSpec) -> tuple[tuple[str, int], ...]:
    return tuple(pool.gpu.mig.items()) if pool.gpu is not None and pool.gpu.mig else ()


def _known_part(constraint: str) -> str:
    """The part of a version that a constraint fixes: `4.7` of `4.7.*`; empty where it is a range."""
    part = constraint.strip("= ").removesuffix(".*")
    return part if part and part[0].isdigit() and "," not in part else ""


def _frameworks(spec: Spec, pool: PoolSpec) -> Iterator[FrameworkFacts]:
    """The frameworks of which something is known before they are locked: a part of the version, or the variant."""
    for name, framework in pool.stack.frameworks.items():
        if framework is None:
            continue
        found = _PYTHON.fullmatch(framework.version.strip())
        variant = (found[2] if found else None) or _variant(spec, framework)
        if found or variant:
            yield FrameworkFacts(name=name, version=found[1] if found else "", variant=variant)


def _variant(spec: Spec, framework: FrameworkSpec) -> str:
    source = spec.sources.get(framework.source)
    found = _VARIANT.search(source.url) if source is not None else None
    return found[1] if found else ""


def _locked_frameworks(locked: "LockedPool") -> Iterator[FrameworkFacts]:
    if locked.frameworks is None:
        return
    versions = {row.name: row.version for row in locked.frameworks.packages}
    for request in locked.frameworks.need.requests:
        version, _, local = versions.get(request.name.partition("[")[0], "").partition("+")
        url = locked.frameworks.need.indexes.get(request.source, "")
        variant = local if local.startswith("cu") else (found[1] if (found := _VARIANT.search(url)) else "")
        if version:
            yield FrameworkFacts(name=request.name, version=version, variant=variant)


def _addresses(spec: Spec, pool: PoolSpec) -> Addresses:
    def at(leaf: str) -> str:
        own, shared = f"pools.{pool.name}.stack.{leaf}", f"stack.{leaf}"
        return own if own in spec.spans and spec.spans[own] != spec.spans.get(shared) else shared

    return Addresses(
        driver=at("driver.version"),
        modules=at("driver.modules"),
        source=at("driver.source"),
        cuda=at("cuda"),
        dcgm=at("dcgm"),
        fabric=at("fabric"),
        toolkit=at("container.toolkit"),
        frameworks=at("frameworks"),
        packages=at("packages"),
        kernel=at("kernel"),
        os=f"pools.{pool.name}.os" if f"pools.{pool.name}.os" in spec.spans else "os",
        gpu=f"pools.{pool.name}.gpu.model",
        mig=f"pools.{pool.name}.gpu.mig",
    )
