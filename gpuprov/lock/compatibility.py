"""The rules asked for every pool: before the lock with what the spec leaves open, after it with exact versions."""

from collections.abc import Iterator
from dataclasses import replace

from gpuprov.catalog.find import branches_of
from gpuprov.lock.requests import ARCHITECTURE, pool_inputs
from gpuprov.lock.types import Lock, LockedPool
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Span
from gpuprov.model.version import Constraint, driver_branch, upstream
from gpuprov.rules.check import check_pool
from gpuprov.rules.equal import check_equal
from gpuprov.rules.facts import Addresses, InstanceFacts, PoolFacts
from gpuprov.rules.instance import check_instance
from gpuprov.spec.types import PoolSpec, Spec


def check_spec(spec: Spec, *, today: str) -> tuple[Diagnostic, ...]:
    """What the rules say of a spec, and what of it has no packages in the catalog.

    Args:
        spec: the spec.
        today: the date as YYYY-MM-DD.

    Returns:
        Errors, warnings and notes with their places; each is told once, also when several pools share it.
    """
    found = [d for pool in spec.pools.values() for d in check_pool(pool_facts(spec, pool), today)]
    found += [d for facts in instance_facts(spec) for d in check_instance(facts)]
    try:
        pool_inputs(spec)
    except GpuprovError as error:
        told = {(d.address, d.severity) for d in found}
        found += [d for d in error.diagnostics if (d.address, d.severity) not in told]
    return _placed(found, spec)


def check_lock(lock: Lock, spec: Spec, *, today: str) -> tuple[Diagnostic, ...]:
    """What the rules say of the exact versions of a lock, for the pools that both have."""
    found: list[Diagnostic] = []
    for asked in pool_inputs(spec):
        locked, pool = lock.pools.get(asked.pool), spec.pools[asked.pool]
        if locked is None:
            continue
        found += check_pool(_with_lock(pool_facts(spec, pool), locked), today)
        versions = {row.name: row.version for row in locked.packages}
        for each in asked.equal:
            members = {name: version for name, version in versions.items() if name in each.names}
            found += check_equal(each.label, members, f"pools.{asked.pool}")
    return _placed(found, spec)


def pool_facts(spec: Spec, pool: PoolSpec) -> PoolFacts:
    """What a spec says of a pool, as the rules read it."""
    stack, driver = pool.stack, pool.stack.driver
    exact = Constraint.parse(driver.version).version if driver is not None else ""
    return PoolFacts(
        pool=pool.name,
        gpu_model=pool.gpu.model if pool.gpu else "",
        driver=upstream(exact) if exact else "",
        branches=branches_of(driver.version) if driver else (),
        modules=driver.modules if driver else "",
        from_os=driver is not None and driver.source == "os",
        cuda=stack.cuda or "",
        fabric=stack.fabric,
        dcgm=_known_part(stack.dcgm or ""),
        addresses=_addresses(spec, pool),
    )


def instance_facts(spec: Spec) -> Iterator[InstanceFacts]:
    """The instance types that a spec names, as the rules read them: those of its pools, and the image builder's."""
    for pool in spec.pools.values():
        if pool.cloud is not None:
            yield InstanceFacts(
                type=pool.cloud.instance,
                arch=ARCHITECTURE,
                address=f"pools.{pool.name}.cloud.instance",
                pool=pool.name,
                gpu_model=pool.gpu.model if pool.gpu else "",
                gpu_count=pool.gpu.per_host if pool.gpu else 0,
            )
    if spec.cloud is not None:
        yield InstanceFacts(type=spec.cloud.image.builder, arch=ARCHITECTURE, address="targets.cloud.image.builder")


def _with_lock(facts: PoolFacts, locked: LockedPool) -> PoolFacts:
    versions = {row.name: row.version for row in locked.packages}
    dcgm = next((upstream(v) for name, v in versions.items() if name.startswith("datacenter-gpu-manager-4-core")), "")
    if not locked.driver:
        return replace(facts, dcgm=dcgm)
    return replace(facts, driver=locked.driver, branches=(driver_branch(locked.driver),), dcgm=dcgm)


def _known_part(constraint: str) -> str:
    """The part of a version that a constraint fixes: `4.7` of `4.7.*`; empty where it is a range."""
    part = constraint.strip("= ").removesuffix(".*")
    return part if part and part[0].isdigit() and "," not in part else ""


def _addresses(spec: Spec, pool: PoolSpec) -> Addresses:
    def at(leaf: str) -> str:
        own, shared = f"pools.{pool.name}.stack.{leaf}", f"stack.{leaf}"
        return own if own in spec.spans and spec.spans[own] != spec.spans.get(shared) else shared

    return Addresses(
        driver=at("driver.version"),
        modules=at("driver.modules"),
        cuda=at("cuda"),
        dcgm=at("dcgm"),
        fabric=at("fabric"),
        gpu=f"pools.{pool.name}.gpu.model",
    )


def _placed(found: list[Diagnostic], spec: Spec) -> tuple[Diagnostic, ...]:
    placed = [replace(d, span=d.span or _span(spec, d.address)) for d in found]
    return tuple(dict.fromkeys(placed))


def _span(spec: Spec, address: str) -> Span | None:
    """The place of an address, or of what stands above it: a field with its default was not written."""
    while address and address not in spec.spans:
        address = address.rpartition(".")[0]
    return spec.spans.get(address)
