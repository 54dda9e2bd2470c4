"""`policy`: what whoever runs gpuprov needs of AWS for a spec, and what the hosts of a pool may do there."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpuprov.app.cloud_site import cloud_of
from gpuprov.app.site import Site, open_lock, open_site
from gpuprov.cloud.decide.grants import Ground
from gpuprov.cloud.decide.identities import identities, pool_buckets, rights
from gpuprov.cloud.decide.identity import host_policy
from gpuprov.cloud.decide.operator import MANAGED_LIMIT, length, operator_policy, pieces
from gpuprov.cloud.decide.standing import Standing, StandingBucket
from gpuprov.cloud.decide.storage import OBJECT, bucket_names
from gpuprov.cloud.decide.tags import Owner, tag_value
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.spec.cloud import CloudNetworkSpec
from gpuprov.spec.cloud_state import PASSPHRASE
from gpuprov.spec.market import RESERVED, SPOT
from gpuprov.spec.storage import SHARED
from gpuprov.spec.types import Spec

Policy = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorRequest:
    """What `policy operator` was asked."""

    spec: Path
    commands: Collection[str]
    """Of `COMMANDS`."""
    delete_data: bool = False
    """Whether it may also delete buckets and volumes."""
    buckets: Mapping[str, str] = field(default_factory=dict)
    """Storage -> name of its bucket, where that is not the one that gpuprov would give it: of one that was taken in."""
    part: int | None = None
    """Which piece of a policy that is too long for one; counted from 1. None takes it whole."""


def operator(request: OperatorRequest) -> tuple[Policy, tuple[Diagnostic, ...]]:
    """The least policy that some commands need for a spec, and what is to be told of it.

    Nothing is asked of AWS.

    Raises:
        GpuprovError: the spec is wrong, has no cloud target; GP-CLOUD-045 for a part that there is not; GP-SPEC-008
            for a bucket of a storage that there is not.
    """
    site = open_site(request.spec)
    ground, told = _ground(site, request.buckets, delete_data=request.delete_data)
    policy = operator_policy(ground, request.commands)
    parts = pieces(policy)
    if request.part is not None:
        if request.part > len(parts):
            raise GpuprovError(
                Diagnostic(
                    code="GP-CLOUD-045",
                    summary=f"the policy has {len(parts)} part(s), and no part {request.part}",
                    hint="leave `--part` out to see it whole",
                )
            )
        return parts[request.part - 1], (*site.warnings, *told)
    if len(parts) > 1:
        told += (_long(length(policy), len(parts)),)
    return policy, (*site.warnings, *told)


def hosts(path: Path, pool: str) -> tuple[Policy, tuple[Diagnostic, ...]]:
    """What the hosts of a pool may do in AWS: what a role that the spec names for it must hold.

    Raises:
        GpuprovError: GP-SPEC-008 for a pool that there is not, or that has no cloud hosts.
    """
    site = open_site(path)
    cloud = cloud_of(site)
    if site.pool(pool).cloud is None:
        raise GpuprovError(
            Diagnostic(
                code="GP-SPEC-008",
                address=f"pools.{pool}.cloud",
                summary=f"the pool {pool} has no hosts in the cloud",
                hint="write `cloud:` for the pool",
            )
        )
    storage = rights(site.spec.storage, site.spec.access)
    buckets = bucket_names(site.spec.name, storage, cloud, Standing())
    policy = host_policy(storage, pool_buckets(storage, buckets, pool), cloud.region)
    return policy or {"Version": "2012-10-17", "Statement": []}, site.warnings


def _ground(site: Site, named: Mapping[str, str], *, delete_data: bool) -> tuple[Ground, tuple[Diagnostic, ...]]:
    spec, cloud = site.spec, cloud_of(site)
    for name in named:
        if name not in spec.storage or spec.storage[name].kind != OBJECT:
            raise GpuprovError(_no_bucket(name, spec))
    there = Standing(buckets={name: StandingBucket(bucket=bucket, tags={}) for name, bucket in named.items()})
    clouds = {name: pool.cloud for name, pool in spec.pools.items() if pool.cloud is not None}
    pools = {name: pool for name, pool in clouds.items() if pool.existing is None}
    buckets = bucket_names(spec.name, spec.storage, cloud, there)
    who = identities(
        spec,
        cloud,
        buckets,
        Owner(spec=spec.name, stack=spec.name),
        hosts={host: name for name, pool in pools.items() for host in pool.names(name)},
        standing=Standing(),
        profiles={pool.role: pool.role for pool in pools.values() if pool.role},
    )
    images, told = _images(site)
    return Ground(
        spec=tag_value(spec.name),
        account=cloud.account,
        region=cloud.region,
        types=tuple(sorted({pool.instance for pool in pools.values()})),
        builder=cloud.image.builder,
        images=images,
        parameters=tuple(sorted({base.parameter for base in cloud.image.bases.values() if base.parameter})),
        baked=cloud.image.bake,
        volumes=any(storage.kind == "volume" for storage in spec.storage.values()),
        buckets=tuple(buckets.values()),
        roles=tuple(str(role["name"]) for role in (*((who.main,) if who.main else ()), *who.pools)),
        brought=tuple(sorted({pool.role for pool in pools.values() if pool.role})),
        boundary=cloud.permissions_boundary,
        delete_data=delete_data,
        existing_tags=tuple(pool.existing.tags for pool in clouds.values() if pool.existing is not None),
        spot=any(pool.market.kind == SPOT for pool in pools.values()),
        placement=any(pool.placement for pool in pools.values()),
        efa=any(pool.efa for pool in pools.values()),
        shares=any(storage.kind == SHARED for storage in spec.storage.values()),
        reservations=tuple(sorted({pool.market.id or "*" for pool in pools.values() if pool.market.kind in RESERVED})),
        reservation_groups=tuple(sorted({pool.market.group for pool in pools.values() if pool.market.group})),
        state=cloud.state.bucket(),
        key="" if cloud.state.secrets == PASSPHRASE else cloud.state.secrets,
        **_network(cloud.network),
    ), told


def _network(network: CloudNetworkSpec) -> dict[str, Any]:
    there = network.existing
    return {
        "own_network": there is None,
        "vpc": (there.vpc if there else None) or "*",
        "subnets": there.subnets if there else (),
        "subnet_tags": there.tags if there else {},
        "nat": there is None and not network.public and network.egress != "endpoints",
        "services": bool(network.endpoints),
    }


def _images(site: Site) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
    if not site.lock_path.exists():
        return (), (
            Diagnostic(
                code="GP-CLOUD-044",
                severity=Severity.NOTE,
                address=str(site.lock_path),
                summary="there is no lock, so that the policy names no base image: hosts may be started from any",
                hint="run `gpuprov lock`, then this again",
            ),
        )
    lock, _ = open_lock(site)
    region = cloud_of(site).region
    return tuple(sorted({image.id for image in lock.images if image.region == region})), ()


def _no_bucket(name: str, spec: Spec) -> Diagnostic:
    there = [key for key, storage in spec.storage.items() if storage.kind == OBJECT]
    return Diagnostic(
        code="GP-SPEC-008",
        address=f"storage.{name}",
        summary=f"the spec has no bucket `{name}`",
        hint=f"buckets of the spec: {', '.join(there) or 'none'}",
    )


def _long(characters: int, parts: int) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-043",
        severity=Severity.NOTE,
        summary=f"the policy has {characters} characters; a managed policy holds {MANAGED_LIMIT}",
        detail="White space does not count.",
        hint=f"`--part 1` to `--part {parts}` print it in pieces, each a policy of its own; all of them are needed",
    )
