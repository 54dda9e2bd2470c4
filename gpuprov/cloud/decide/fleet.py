"""The instances: which, where, from what image."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gpuprov.cloud.decide.efa import template_of
from gpuprov.cloud.decide.login import user_data
from gpuprov.cloud.decide.market import Bought, buy, part_of
from gpuprov.cloud.decide.placement import placement_of
from gpuprov.cloud.decide.refusals import refuse
from gpuprov.cloud.decide.standing import Standing, StandingHost
from gpuprov.cloud.decide.storage import VOLUME
from gpuprov.cloud.decide.tags import Owner, tags
from gpuprov.cloud.decide.zones import choose_zone
from gpuprov.cloud.types import Reservation
from gpuprov.lock.types import Lock
from gpuprov.spec.cloud import HOP_LIMIT, CloudSpec
from gpuprov.spec.types import Spec

NO_RESERVATIONS: Final[Mapping[str, Sequence[Reservation]]] = {}
NOTHING_FREED: Final[Mapping[str, int]] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedHost:
    """A host, and where it stands."""

    name: str
    pool: str
    type: str
    root_gib: int
    zone: str
    bought: Bought = field(default_factory=Bought)
    placement: str = ""
    """Name of its placement group; empty for none."""
    template: str = ""
    """Name of the launch template that holds its network interfaces; empty for one plain interface."""
    hop_limit: int = HOP_LIMIT


def planned_hosts(
    spec: Spec,
    cloud: CloudSpec,
    zones: Mapping[str, Sequence[str]],
    standing: Standing,
    *,
    reservations: Mapping[str, Sequence[Reservation]] = NO_RESERVATIONS,
    freed: Mapping[str, int] = NOTHING_FREED,
) -> tuple[PlannedHost, ...]:
    """Place every cloud host of the spec.

    A host stays in the zone of its standing volumes, then in its own; only a new one is free.

    Args:
        spec: the spec.
        cloud: its cloud target.
        zones: instance type -> zones of the region that offer it.
        standing: what binds, without what is made anew.
        reservations: pool -> the reserved capacity that its market names.
        freed: reservation -> how many hosts in it are made anew.

    Raises:
        GpuprovError: GP-SPEC-005 when two pools name one host, or a root volume would shrink; GP-CLOUD-022 when a
            type is offered in no zone that serves; GP-CLOUD-050 when reserved capacity cannot hold the new hosts.
    """
    hosts: dict[str, PlannedHost] = {}
    for name, pool in sorted(spec.pools.items()):
        if pool.cloud is None:
            continue
        names = pool.cloud.names(name)
        pinned = {host: zone for host in names if (zone := next(iter(_holding(spec, standing, host)), ""))}
        bought, reserved = buy(
            pool.cloud.market,
            [host for host in names if host not in standing.hosts],
            pool.cloud.instance,
            network=cloud.network,
            reservations=reservations.get(name, ()),
            freed=freed,
            pinned=pinned,
            address=f"pools.{name}.cloud.market",
        )
        for host in names:
            if host in hosts:
                raise refuse(
                    "GP-SPEC-005",
                    f"the host {host} is in the pools {hosts[host].pool} and {name}",
                    address=f"pools.{name}.cloud.hosts",
                    hint="a host belongs to one pool",
                )
            _check_root(host, name, pool.cloud.root, standing.hosts.get(host))
            zone = reserved.get(host) or _zone(
                spec, cloud, zones, standing, host=host, type_=pool.cloud.instance, pool=name
            )
            owner = Owner(spec=spec.name, stack=spec.name)
            hosts[host] = PlannedHost(
                name=host,
                pool=name,
                type=pool.cloud.instance,
                root_gib=pool.cloud.root,
                zone=zone,
                bought=bought[host] if host in bought else standing.hosts[host].bought,
                placement=placement_of(pool.cloud, owner, name, standing.hosts.get(host)),
                template=template_of(pool.cloud, owner, name, zone, standing.hosts.get(host)),
                hop_limit=pool.cloud.metadata_hops,
            )
    return tuple(hosts[host] for host in sorted(hosts))


def _zone(
    spec: Spec,
    cloud: CloudSpec,
    zones: Mapping[str, Sequence[str]],
    standing: Standing,
    *,
    host: str,
    type_: str,
    pool: str,
) -> str:
    address = f"pools.{pool}.cloud.instance"
    there = standing.hosts.get(host)
    holding = _holding(spec, standing, host)
    zone = next(iter(holding), there.zone if there is not None else "")
    if not zone:
        return choose_zone(cloud.network, cloud.region, type_, zones, address=address)
    unchanged = there is not None and there.type == type_
    if not unchanged and zone not in zones.get(type_, ()):
        why = f"its volume {holding[zone]} is there" if zone in holding else "it stands there"
        names = " ".join(f"--replace {name}" for name in (host, *holding.values()))
        raise refuse(
            "GP-CLOUD-022",
            f"{zone} does not offer the instance type {type_}, and {host} is bound to that zone: {why}",
            address=address,
            detail=f"The type is offered in {', '.join(sorted(zones.get(type_, ()))) or 'no zone of the region'}.",
            hint=f"choose another type, or make it anew elsewhere with `{names}`; a new volume is empty",
        )
    return zone


def _holding(spec: Spec, standing: Standing, host: str) -> dict[str, str]:
    """Zone -> volume that stands there and that the host keeps."""
    # By name, not by going through all volumes for each host: a fleet's grow with its hosts.
    names = sorted(f"{storage}/{host}" for storage in spec.storage if _wanted(spec, storage))
    return {standing.volumes[name].zone: name for name in names if name in standing.volumes}


def _check_root(host: str, pool: str, size: int, there: StandingHost | None) -> None:
    if there is not None and size < there.root_gib:
        raise refuse(
            "GP-SPEC-005",
            f"the root volume of {host} has {there.root_gib} GiB and cannot shrink to {size} GiB",
            address=f"pools.{pool}.cloud.root",
            detail="EBS grows volumes in place; a smaller one comes with a new instance.",
            hint=f"write {there.root_gib}, or make the host anew with `--replace {host}`",
        )


def _wanted(spec: Spec, storage: str) -> bool:
    return storage in spec.storage and spec.storage[storage].kind == VOLUME


def base_image(lock: Lock, pool: str, region: str) -> str:
    """The id of a pool's base image in the lock.

    Raises:
        GpuprovError: GP-LOCK-004 when the lock lacks the pool; GP-CLOUD-018 when it holds no image for it.
    """
    locked = lock.pools.get(pool)
    if locked is None:
        raise refuse(
            "GP-LOCK-004",
            f"the lock does not hold the pool {pool}",
            address=f"pools.{pool}",
            hint="run `gpuprov lock`",
        )
    for image in lock.images:
        if (image.os, image.arch, image.region) == (locked.os, locked.arch, region):
            return image.id
    raise refuse(
        "GP-CLOUD-018",
        f"the lock holds no image of {locked.os} ({locked.arch}) in {region}",
        address=f"pools.{pool}.cloud",
        hint="run `gpuprov lock`",
    )


def instance_part(
    host: PlannedHost, owner: Owner, *, image: str, keys: Sequence[str], user: str, replace: Collection[str]
) -> dict[str, object]:
    """One entry of the document's `instances`."""
    return {
        "name": host.name,
        "pool": host.pool,
        "type": host.type,
        "image": image,
        "zone": host.zone,
        "subnet": host.zone,
        "root_gib": host.root_gib,
        "user_data": user_data(host.name, keys, user=user),
        "hop_limit": host.hop_limit,
        "placement_group": host.placement or None,
        "launch_template": host.template or None,
        "identity": None,
        "instance_profile": None,
        "market": part_of(host.bought),
        "replace": host.name in replace,
        "tags": tags(owner, "instance", host.name, pool=host.pool),
        "root_tags": tags(owner, "root", host.name, pool=host.pool),
    }
