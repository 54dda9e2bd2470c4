"""Buckets, and the data volumes beside the hosts."""

from collections.abc import Collection, Mapping
from typing import Final

from gpuprov.cloud.decide.devices import assign_devices
from gpuprov.cloud.decide.identity import tls_policy
from gpuprov.cloud.decide.names import bucket_name
from gpuprov.cloud.decide.refusals import refuse
from gpuprov.cloud.decide.standing import Standing, StandingVolume, is_named
from gpuprov.cloud.decide.tags import Owner, tags
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.spec.cloud import CloudSpec
from gpuprov.spec.sizes import LARGEST_GIB, size_in_gib
from gpuprov.spec.storage import StorageSpec

OBJECT, VOLUME = "object", "volume"

IOPS: Final = 3000
THROUGHPUT: Final = 125
"""What every gp3 volume has at no price beyond its size, from 1 GiB on; throughput in MiB/s (Amazon EBS User Guide,
General Purpose SSD volumes, read 2026-11-30)."""
UNFINISHED_DAYS: Final = 7
"""After how many days the parts of an upload that nobody finished are removed."""


def bucket_names(spec: str, storage: Mapping[str, StorageSpec], cloud: CloudSpec, standing: Standing) -> dict[str, str]:
    """Storage name -> bucket name, for every `object`; a bucket that stands keeps its name, and with it its data."""
    return {
        name: standing.buckets[name].bucket
        if name in standing.buckets
        else bucket_name(spec, name, cloud.account, cloud.region)
        for name in sorted(storage)
        if storage[name].kind == OBJECT
    }


def bucket_part(name: str, bucket: str, region: str, given_tags: Mapping[str, str]) -> dict[str, object]:
    """One entry of the document's `buckets`.

    Old versions of objects never expire by themselves: a run that deleted the wrong thing must be able to get it back.
    """
    return {
        "name": name,
        "bucket": bucket,
        "force_destroy": False,  # emptying is a step of its own, and only for what was named
        "policy": tls_policy(bucket, region),
        "unfinished_days": UNFINISHED_DAYS,
        "tags": dict(given_tags),
    }


def size_gib(text: str, address: str) -> int:
    """A size of the spec in GiB.

    Raises:
        GpuprovError: GP-SPEC-005 when it is no size, or one that gp3 does not have.
    """
    size = size_in_gib(text)
    if size is None or size > LARGEST_GIB:
        raise refuse(
            "GP-SPEC-005",
            f"{text or 'nothing'} is no size of a volume",
            address=address,
            detail=f"A volume has 1GiB to {LARGEST_GIB}GiB.",
            hint="write a size such as 500GiB or 2TiB",
        )
    return size


def volume_parts(
    storage: Mapping[str, StorageSpec],
    hosts: Mapping[str, tuple[str, str]],
    owner: Owner,
    standing: Standing,
) -> list[dict[str, object]]:
    """The document's `volumes`: one on each host for each storage of kind `volume`.

    Args:
        storage: the spec's.
        hosts: host -> pool and zone.
        owner: whose they are.
        standing: what binds, without what is made anew: device names stay, and sizes only grow.

    Raises:
        GpuprovError: GP-SPEC-005 for a bad or smaller size, or more volumes than a host has device names for.
    """
    sizes = {name: size_gib(s.size, f"storage.{name}.size") for name, s in storage.items() if s.kind == VOLUME}
    attached = _devices(standing)
    return [
        _volume(
            f"{name}/{host}",
            sizes[name],
            placed,
            owner,
            device=devices[name],
            there=standing.volumes.get(f"{name}/{host}"),
        )
        for host, placed in sorted(hosts.items())
        for devices in [assign_devices(sizes, attached.get(host, {}))]
        for name in sorted(sizes)
    ]


def check_detaching(
    storage: Mapping[str, StorageSpec], staying: Collection[str], standing: Standing, replace: Collection[str]
) -> None:
    """Refuse to take a volume off a host that stays: it may be mounted there, and nothing but the host ends that.

    Args:
        storage: the spec's.
        staying: hosts of the spec.
        standing: everything that is there.
        replace: names of what is made anew.

    Raises:
        GpuprovError: GP-CLOUD-014 for each volume that would go, or be made anew, without its host.
    """
    kept = {name for name, spec in storage.items() if spec.kind == VOLUME}
    refused = []
    for name, volume in sorted(standing.volumes.items()):
        of, _, host = name.partition("/")
        stays = host in staying and host in standing.hosts and host not in replace
        if volume.device is None or not stays or (of in kept and not is_named(name, replace)):
            continue
        way = f"`--replace {name} --replace {host}`"
        refused.append(
            Diagnostic(
                code="GP-CLOUD-014",
                summary=f"the volume {name} is attached to {host}, which stays; it can only go together with it",
                address=f"storage.{of}",
                detail="Taking a volume off a running host may damage what is on it. Nothing was changed.",
                hint=f"make the host anew too: {way}" if of in kept else f"put {of} back into the spec, or give {way}",
            )
        )
    if refused:
        raise GpuprovError(*refused)


def _devices(standing: Standing) -> dict[str, dict[str, str]]:
    """Host -> storage name -> device name, as volumes are attached now."""
    found: dict[str, dict[str, str]] = {}
    for name, volume in standing.volumes.items():
        storage, _, host = name.partition("/")
        if volume.device is not None:
            found.setdefault(host, {})[storage] = volume.device
    return found


def _volume(
    name: str,
    size: int,
    placed: tuple[str, str],
    owner: Owner,
    *,
    device: str,
    there: StandingVolume | None,
) -> dict[str, object]:
    storage, _, host = name.partition("/")
    pool, zone = placed
    if there is not None and size < there.size_gib:
        raise refuse(
            "GP-SPEC-005",
            f"the volume {name} has {there.size_gib} GiB and cannot shrink to {size} GiB",
            address=f"storage.{storage}.size",
            detail="EBS grows volumes in place; a smaller one is a new one, without the data.",
            hint=f"write {there.size_gib}GiB, or make it anew with its host: `--replace {name} --replace {host}`",
        )
    return {
        "name": name,
        "zone": zone,
        "size_gib": size,
        "iops": IOPS,
        "throughput": THROUGHPUT,
        "host": host,
        "device": device,
        "tags": tags(owner, "volume", name, pool=pool),
    }
