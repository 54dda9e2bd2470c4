"""Which instances of the account become hosts of which pool, and under which names: pure decisions."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gpuprov.cloud.decide.tags import SPEC
from gpuprov.cloud.existing_aws import FoundInstance
from gpuprov.cloud.types import InstanceHealth, MadeHost
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.cloud import PoolCloudSpec
from gpuprov.spec.scalars import CHECKS

_SHOWN: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """Instances that are a spec's hosts without being its stack's."""

    hosts: tuple[MadeHost, ...] = ()
    """Those that are there, running or not; the pools in the spec's order."""
    health: Mapping[str, InstanceHealth] = field(default_factory=dict)
    """Instance id -> its state; nobody asks EC2 for the checks of these."""
    refused: tuple[Diagnostic, ...] = ()
    """GP-CLOUD-074: why some of what the tags mean cannot be a host, or that they mean nothing."""


def take_existing(
    pools: Mapping[str, PoolCloudSpec],
    find: Callable[[Mapping[str, str]], Sequence[FoundInstance]],
    *,
    made: Collection[str],
) -> Taken:
    """Take the instances that the pools' tags mean.

    Args:
        pools: name -> what the spec says, of pools with `existing`.
        find: looks in the account.
        made: names of the hosts that the spec has made; none of these goes by another instance.
    """
    by_pool = {name: tuple(find(cloud.existing.tags)) for name, cloud in pools.items() if cloud.existing is not None}
    refused = [problem for name, found in by_pool.items() for problem in _problems(name, pools[name], found)]
    owner: dict[str, str] = {}
    for name, found in by_pool.items():
        for one in found:
            first = owner.setdefault(one.id, name)
            if first != name:
                refused.append(_two_pools(one, first, name))
    everything = {one.id: one for found in by_pool.values() for one in found}
    names = _names(tuple(everything.values()), made)
    return Taken(
        hosts=tuple(
            _host(one, names[one.id], pool)
            for pool, found in by_pool.items()
            for one in sorted(found, key=lambda one: names[one.id])
            if owner[one.id] == pool
        ),
        health={one.id: InstanceHealth(id=one.id, state=one.state, checks="ok") for one in everything.values()},
        refused=tuple(refused),
    )


def _names(found: Sequence[FoundInstance], made: Collection[str]) -> dict[str, str]:
    """Instance id -> the host's name: its tag `Name` where that is a host's name and no other's, else the id."""
    counted = Counter(one.tags.get("Name", "") for one in found)

    def usable(name: str) -> bool:
        return bool(name) and counted[name] == 1 and name not in made and not CHECKS["label"].refuse(name)

    return {one.id: name if usable(name := one.tags.get("Name", "")) else one.id for one in found}


def _host(one: FoundInstance, name: str, pool: str) -> MadeHost:
    return MadeHost(
        name=name,
        pool=pool,
        instance_id=one.id,
        type=one.type,
        image=one.image,
        zone=one.zone,
        private_address=one.private_address,
        public_address=one.public_address,
    )


def _problems(pool: str, cloud: PoolCloudSpec, found: Sequence[FoundInstance]) -> list[Diagnostic]:
    at = f"pools.{pool}.cloud.existing"
    if not found:
        tags = ", ".join(f"{key}={value}" for key, value in (cloud.existing.tags if cloud.existing else {}).items())
        return [
            _refuse(at, f"no instance of the region has the tags of the pool {pool}", tags, "give instances these tags")
        ]
    problems = []
    ours = [f"{one.id} ({one.tags[SPEC]})" for one in found if SPEC in one.tags]
    if ours:
        what = f"{len(ours)} instance(s) with the tags of the pool {pool} were made by gpuprov: they belong to a stack"
        problems.append(_refuse(at, what, _shown(ours), "name them in the spec that made them, or choose other tags"))
    others = [f"{one.id} is {one.type}" for one in found if one.type != cloud.instance]
    if others:
        what = f"{len(others)} instance(s) with the tags of the pool {pool} are not of its type {cloud.instance}"
        problems.append(_refuse(at, what, _shown(others), "hosts of a pool are equal: use tags that tell them apart"))
    return problems


def _two_pools(one: FoundInstance, first: str, second: str) -> Diagnostic:
    return _refuse(
        f"pools.{second}.cloud.existing",
        f"the instance {one.id} has the tags of two pools, {first} and {second}",
        "",
        "a host has one want: use tags that tell the pools apart",
    )


def _shown(lines: Sequence[str]) -> str:
    more = len(lines) - _SHOWN
    return "\n".join((*lines[:_SHOWN], *((f"and {more} more",) if more > 0 else ())))


def _refuse(address: str, summary: str, detail: str, hint: str) -> Diagnostic:
    return Diagnostic(code="GP-CLOUD-074", address=address, summary=summary, detail=detail, hint=hint)
