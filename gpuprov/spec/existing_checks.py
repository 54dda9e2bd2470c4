"""Checks of a pool whose instances are there already: what says how instances are made means nothing for it."""

from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Final

from gpuprov.model.address import join
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.cloud import PoolCloudSpec
from gpuprov.spec.storage import SHARED, VOLUME
from gpuprov.spec.written import WrittenSpec

_MEANT: Final = frozenset({"instance", "existing"})
"""Fields of a pool's `cloud` that say something of instances which are there."""


def existing_problems(pool: str, cloud: PoolCloudSpec, at: str) -> Iterator[Diagnostic]:
    """What is wrong with such a pool, without places."""
    for field in fields(cloud):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if field.name not in _MEANT and getattr(cloud, field.name) != default:
            yield Diagnostic(
                code="GP-SPEC-005",
                summary=f"`{field.name}` says how instances of the pool {pool} are made, and they are there already",
                address=f"{at}.{field.name}",
                hint=f"take `{field.name}` away, or `existing`",
            )
    if cloud.existing is not None and not cloud.existing.tags:
        yield Diagnostic(
            code="GP-SPEC-004",
            summary=f"no tag says which instances belong to the pool {pool}",
            address=f"{at}.existing.tags",
            detail="Without a tag every instance of the region would be meant.",
            hint="write at least one, such as `tags: {gpu-pool: train}`, and give the instances that tag",
        )


def attached_problems(spec: WrittenSpec) -> Iterator[Diagnostic]:
    """Volumes and shares for pools of instances that are not gpuprov's to attach anything to, or to open a way for."""
    taken = [name for name, pool in spec.pools.items() if pool.cloud is not None and pool.cloud.existing is not None]
    for name, storage in spec.storage.items():
        served = [pool for pool in taken if storage.serves(pool)]
        if served and storage.kind in {VOLUME, SHARED}:
            yield Diagnostic(
                code="GP-SPEC-005",
                summary=f"the {storage.kind} storage {name} is made for hosts of gpuprov's own, and those of the pool"
                f" {served[0]} are not",
                address=join("storage", name),
                detail="Nothing is attached to instances that are there already, and no way is opened for them.",
                hint="put these pools into a spec of their own"
                if storage.kind == VOLUME
                else "name the other pools in `pools`",
            )
