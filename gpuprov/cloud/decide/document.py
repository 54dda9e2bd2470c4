"""The stack document: every decision about a stack in plain JSON; `stacks/aws` only makes what it says."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from gpuprov.cloud.decide.efa import template_part
from gpuprov.cloud.decide.existing import existing_part, placed_in
from gpuprov.cloud.decide.fleet import NO_RESERVATIONS, PlannedHost, base_image, instance_part, planned_hosts
from gpuprov.cloud.decide.identities import identities
from gpuprov.cloud.decide.network import group_part, network_part
from gpuprov.cloud.decide.placement import placement_part
from gpuprov.cloud.decide.refusals import refuse
from gpuprov.cloud.decide.shares import access_part, share_names, share_part
from gpuprov.cloud.decide.standing import Standing
from gpuprov.cloud.decide.storage import bucket_names, bucket_part, check_detaching, volume_parts
from gpuprov.cloud.decide.surroundings import Surroundings
from gpuprov.cloud.decide.tags import Owner, tags
from gpuprov.cloud.decide.zones import choose_zone
from gpuprov.cloud.types import Document, Reservation
from gpuprov.lock.types import Lock
from gpuprov.spec.cloud import CloudSpec
from gpuprov.spec.types import PoolSpec, Spec

KIND: Final = "StackDocument"
API_VERSION: Final = "gpuprov/v1"
BUILDER: Final = "builder"
"""Name of the one host of a builder's stack."""
_NOTHING: Final = Standing()
NO_PROFILES: Final[Mapping[str, str]] = {}
_ALONE: Final = Surroundings()


def stack_document(
    spec: Spec,
    lock: Lock,
    *,
    zones: Mapping[str, Sequence[str]],
    login_keys: Sequence[str],
    images: Mapping[str, str],
    replace: Collection[str] = (),
    standing: Standing = _NOTHING,
    profiles: Mapping[str, str] = NO_PROFILES,
    reservations: Mapping[str, Sequence[Reservation]] = NO_RESERVATIONS,
    around: Surroundings = _ALONE,
) -> Document:
    """Decide everything about the stack of a spec's cloud hosts.

    Args:
        spec: with a cloud target.
        lock: gives the base image of a pool that `images` leaves out.
        zones: instance type -> zones of the region that offer it.
        login_keys: lines of public keys that may log in.
        images: pool -> image that new hosts start from; what runs keeps its own.
        replace: names of hosts, of volumes (`STORAGE/HOST`) and of storages, whose hosts and volumes are made anew.
        standing: what the stack's state holds; its zones, device names and bucket names stay.
        profiles: role of the account -> its instance profile, for each role that a pool names.
        reservations: pool -> the reserved capacity that its market names.
        around: what was found in the account of what the spec's network names.

    Raises:
        GpuprovError: GP-SPEC-005, GP-SPEC-008, GP-CLOUD-014, GP-CLOUD-018, GP-CLOUD-019, GP-CLOUD-022, GP-CLOUD-030
            to GP-CLOUD-036, GP-CLOUD-050, GP-CLOUD-081, GP-CLOUD-082, GP-LOCK-004.
    """
    cloud, owner = placed_in(_cloud(spec), around.network), Owner(spec=spec.name, stack=spec.name)
    bound = standing.without(replace)
    freed = Counter(host.bought.reservation for name, host in standing.hosts.items() if name in replace)
    hosts = planned_hosts(spec, cloud, zones, bound, reservations=reservations, freed=freed)
    check_detaching(spec.storage, {host.name for host in hosts}, standing, replace)
    buckets = bucket_names(spec.name, spec.storage, cloud, standing)
    placed = {host.name: (host.pool, host.zone) for host in hosts}
    who = identities(
        spec,
        cloud,
        buckets,
        owner,
        hosts={host.name: host.pool for host in hosts},
        standing=standing,
        profiles=profiles,
    )
    shares = share_names(spec.storage, spec.pools, standing, replace)
    starts = {pool: images.get(pool) or base_image(lock, pool, cloud.region) for pool in {h.pool for h in hosts}}
    new = [host for host in hosts if host.name not in bound.hosts]
    return _document(cloud, owner, hosts, new, around) | {
        "launch_templates": template_part(hosts, owner, spec.catalog, public=cloud.network.public),
        "identity": who.main,
        "pool_identities": list(who.pools),
        "buckets": [
            bucket_part(name, bucket, cloud.region, tags(owner, "bucket", name)) for name, bucket in buckets.items()
        ],
        "volumes": volume_parts(spec.storage, placed, owner, bound),
        "shares": [share_part(name, owner) for name in shares],
        "share_access": access_part(shares, {host.zone for host in hosts}, owner) if hosts else None,
        "instances": [
            instance_part(
                host, owner, image=starts[host.pool], keys=login_keys, user=cloud.user, replace=frozenset(replace)
            )
            | who.entry(host.pool)
            for host in hosts
        ],
    }


def builder_document(
    spec: Spec,
    lock: Lock,
    pool: PoolSpec,
    *,
    zones: Mapping[str, Sequence[str]],
    login_keys: Sequence[str],
    image: str = "",
    around: Surroundings = _ALONE,
) -> Document:
    """Decide the stack of an image's builder: one instance without storage or a role, in a network of its own.

    Where the spec's network is one that is there, the builder is put into it.

    Args:
        spec: with a cloud target.
        lock: gives the base image when `image` is empty.
        pool: whose image it is; its root size is the image's, so that hosts of the pool can start from it.
        zones: instance type -> zones of the region that offer it.
        login_keys: lines of public keys that may log in.
        image: the image to start from.
        around: as for `stack_document`.

    Raises:
        GpuprovError: as `stack_document`.
    """
    cloud = placed_in(_cloud(spec), around.network)
    owner = Owner(spec=spec.name, stack=f"{spec.name}:image:{pool.name}")
    if pool.cloud is None:
        raise refuse(
            "GP-SPEC-008",
            f"the pool {pool.name} has no hosts in the cloud",
            address=f"pools.{pool.name}.cloud",
            hint="write `cloud:` for the pool",
        )
    type_ = cloud.image.builder
    zone = choose_zone(cloud.network, cloud.region, type_, zones, address="targets.cloud.image.builder")
    host = PlannedHost(name=BUILDER, pool=pool.name, type=type_, root_gib=pool.cloud.root, zone=zone)
    start = image or base_image(lock, pool.name, cloud.region)
    instance = instance_part(host, owner, image=start, keys=login_keys, user=cloud.user, replace=())
    return _document(cloud, owner, (host,), (host,), around) | {"instances": [instance]}


def standing_document(spec: Spec, standing: Standing) -> Document:
    """What holds data in a stack, as the state has it: nothing is decided anew, nothing is made.

    It takes neither a region's offers nor login keys, so that a stack can go when neither is to be had.
    """
    cloud, owner = _cloud(spec), Owner(spec=spec.name, stack=spec.name)
    return _document(cloud, owner, (), (), _ALONE) | {
        "buckets": [
            bucket_part(name, there.bucket, cloud.region, there.tags)
            for name, there in sorted(standing.buckets.items())
        ],
        "volumes": [
            {
                "name": name,
                "zone": there.zone,
                "size_gib": there.size_gib,
                "iops": there.iops,
                "throughput": there.throughput,
                "host": None,
                "device": None,
                "tags": dict(there.tags),
            }
            for name, there in sorted(standing.volumes.items())
        ],
        "shares": [share_part(name, owner, given) for name, given in sorted(standing.shares.items())],
    }


def data_document(document: Document, *, delete: Collection[str]) -> Document:
    """What `destroy` leaves of a stack: its buckets and its volumes, attached to nothing.

    Args:
        document: of `standing_document`, or of `stack_document` when everything of it was made.
        delete: names of storages, or of single volumes as `STORAGE/HOST`, that go as well.

    Raises:
        GpuprovError: GP-CLOUD-026 for a name that the document does not hold.
    """
    buckets, volumes, shares = (_entries(document, key) for key in ("buckets", "volumes", "shares"))
    there = {str(e["name"]) for e in (*buckets, *volumes, *shares)}
    known = there | {name.partition("/")[0] for name in there}
    for name in sorted(set(delete) - known):
        raise refuse(
            "GP-CLOUD-026",
            f"the stack holds no bucket, volume or share {name}",
            address=f"storage.{name}",
            hint=f"it holds {', '.join(sorted(there)) or 'none'}",
        )
    return {
        **document,
        "network": None,
        "security_group": None,
        "placement_groups": [],
        "launch_templates": [],
        "identity": None,
        "pool_identities": [],
        "instances": [],
        "buckets": [entry for entry in buckets if entry["name"] not in delete],
        "shares": [entry for entry in shares if entry["name"] not in delete],
        "share_access": None,
        "volumes": [
            {**entry, "host": None, "device": None}
            for entry in volumes
            if not {str(entry["name"]), str(entry["name"]).partition("/")[0]} & set(delete)
        ],
    }


def _document(
    cloud: CloudSpec, owner: Owner, hosts: Sequence[PlannedHost], new: Sequence[PlannedHost], around: Surroundings
) -> dict[str, object]:
    """The head of a document, and its network where there are hosts.

    Args:
        cloud: the spec's, placed.
        owner: whose it is.
        hosts: all of them.
        new: those that do not stand yet.
        around: what was found in the account.
    """
    return {
        "kind": KIND,
        "apiVersion": API_VERSION,
        "spec": owner.spec,
        "stack": owner.stack,
        "region": cloud.region,
        "network": _network(cloud, owner, hosts, new, around) if hosts else None,
        "security_group": group_part(cloud.network, owner, efa=any(host.template for host in hosts)) if hosts else None,
        "placement_groups": placement_part([host.placement for host in hosts], owner),
        "launch_templates": [],
        "identity": None,
        "pool_identities": [],
        "buckets": [],
        "volumes": [],
        "shares": [],
        "share_access": None,
        "instances": [],
    }


def _network(
    cloud: CloudSpec, owner: Owner, hosts: Sequence[PlannedHost], new: Sequence[PlannedHost], around: Surroundings
) -> dict[str, object]:
    zones = {host.zone for host in hosts}
    if around.network is not None:
        return existing_part(cloud.network, zones, around.network, new=Counter(host.zone for host in new))
    return network_part(cloud.network, cloud.region, zones, owner, around.services)


def _cloud(spec: Spec) -> CloudSpec:
    if spec.cloud is None:
        raise refuse(
            "GP-SPEC-008", "the spec has no cloud target", address="targets.cloud", hint="write `targets: {cloud: ...}`"
        )
    return spec.cloud


def _entries(document: Document, key: str) -> list[dict[str, object]]:
    found = document.get(key)
    return [dict(entry) for entry in found] if isinstance(found, list) else []
