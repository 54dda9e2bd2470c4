"""Buckets, and the data volumes beside the hosts."""

from collections.abc import Collection, Mapping
from typing import Final

from gpuprov.cloud.decide.devices import assign_devices
from gpuprov.cloud.decide.identity import tls_policy
from gpuprov.cloud.decide.names import bucket_name
from gpuprov.cloud.decide.refusals import refuse
from gpuprov.cloud.decide.standing import Standing
from gpuprov.cloud.decide.tags import Owner, tags
from gpuprov.spec.sizes import LARGEST_GIB, size_in_gib
from gpuprov.spec.types import CloudSpec, StorageSpec

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
    *,
    standing: Standing,
    replace: Collection[str],
) -> list[dict[str, object]]:
    """The document's `volumes`: one on each host for each storage of kind `volume`.

    Args:
        storage: the spec's.
        hosts: host -> pool and zone.
        owner: whose they are.
        standing: what is there; device names and sizes of it bind.
        replace: names of what is made anew, which nothing binds.

    Raises:
        GpuprovError: GP-SPEC-005 for a bad or smaller size, or more volumes than a host has device names for.
    """
    sizes = {name: size_gib(s.size, f"storage.{name}.size") for name, s in storage.items() if s.kind == VOLUME}
    return [
        _volume(f"{name}/{host}", sizes[name], placed, devices[name], owner, standing=standing, replace=replace)
        for host, placed in sorted(hosts.items())
        for devices in [assign_devices(sizes, _devices_of(host, standing))]
        for name in sorted(sizes)
    ]


def _devices_of(host: str, standing: Standing) -> dict[str, str]:
    """Storage name -> device name, as the host's volumes are attached now."""
    parts = ((name.partition("/"), volume.device) for name, volume in standing.volumes.items())
    return {storage: device for (storage, _, on), device in parts if on == host and device is not None}


def _volume(
    name: str,
    size: int,
    placed: tuple[str, str],
    device: str,
    owner: Owner,
    *,
    standing: Standing,
    replace: Collection[str],
) -> dict[str, object]:
    storage, _, host = name.partition("/")
    pool, zone = placed
    there = standing.volumes.get(name)
    if there is not None and size < there.size_gib and name not in replace:
        raise refuse(
            "GP-SPEC-005",
            f"the volume {name} has {there.size_gib} GiB and cannot shrink to {size} GiB",
            address=f"storage.{storage}.size",
            detail="EBS grows volumes in place; a smaller one is a new one, without the data.",
            hint=f"write {there.size_gib}GiB, or make it anew with `--replace {name}`",
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
