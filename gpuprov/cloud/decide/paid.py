"""What of a stack is paid beside its instances: so many of each part, as the catalog names the parts."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Final, cast

from gpuprov.cloud.decide.storage import IOPS, THROUGHPUT
from gpuprov.cloud.types import Document

NAT, ADDRESS, ENDPOINT = "nat-gateway", "public-ipv4", "interface-endpoint"
GP3, GP3_IOPS, GP3_THROUGHPUT = "gp3-storage", "gp3-iops", "gp3-throughput"
SHARE, BUCKET = "efs-storage", "bucket"

Parts = Mapping[str, float]
"""Part -> how many: gateways, addresses, GiB, IOPS above what every volume has, file systems, buckets."""

_FREE: Final = frozenset({
    "vpc", "subnet", "gateway", "route_table", "route", "route_table_association", "security_group", "ingress",
    "egress", "role", "role_policy", "instance_profile", "placement_group", "launch_template", "volume_attachment",
    "mount_target", "bucket_public_access_block", "bucket_ownership", "bucket_encryption", "bucket_versioning",
    "bucket_policy", "bucket_lifecycle",
})  # fmt: skip
"""Kinds of resources that cost nothing themselves (the services' pricing pages, read 2026-11-30)."""


def paid_in_document(document: Document, *, off: Collection[str]) -> Parts:
    """What is paid for beside the instances once a document is made.

    Args:
        document: of the stack.
        off: hosts that stand stopped: their volumes are paid, and no public address.
    """
    network = cast("Mapping[str, Any] | None", document.get("network")) or {}
    instances = _rows(document, "instances")
    found: Counter[str] = Counter()
    gateways = len(network.get("nats") or [])
    public = [row for row in instances if network.get("public") and row["name"] not in off]
    found[NAT] += gateways
    found[ADDRESS] += gateways + len(public)
    found[ENDPOINT] += sum(len(one["zones"]) for one in network.get("endpoints") or [] if one["interface"])
    for row in instances:
        found[GP3] += row["root_gib"]
    for row in _rows(document, "volumes"):
        found.update(_gp3(row["size_gib"], row["iops"], row["throughput"]))
    found[SHARE] += len(_rows(document, "shares"))
    found[BUCKET] += len(_rows(document, "buckets"))
    return {part: count for part, count in found.items() if count}


def paid_in_state(resources: Mapping[str, Mapping[str, object]], *, addressed: Collection[str]) -> Parts:
    """What is paid for beside the instances of a stack that stands.

    Args:
        resources: address (`volume.scratch/train-a`) -> the resource's inputs as the state holds them.
        addressed: hosts that have a public address now.

    Returns:
        A kind of resource that nothing is known of is a part of its own, so that it is told.
    """
    found: Counter[str] = Counter({ADDRESS: len(addressed)})
    for address, inputs in resources.items():
        kind = address.partition(".")[0]
        found.update(_paid(kind, inputs))
    return {part: count for part, count in found.items() if count}


def _paid(kind: str, inputs: Mapping[str, object]) -> dict[str, int]:
    if kind == "endpoint":
        subnets = inputs.get("subnetIds")
        return {ENDPOINT: len(subnets)} if isinstance(subnets, list) else {}
    if kind == "instance":
        root = inputs.get("rootBlockDevice")
        return {GP3: _number(root, "volumeSize")} if isinstance(root, Mapping) else {}
    if kind == "volume":
        return _gp3(_number(inputs, "size"), _number(inputs, "iops"), _number(inputs, "throughput"))
    one = {"nat_gateway": NAT, "elastic_ip": ADDRESS, "share": SHARE, "bucket": BUCKET}.get(kind)
    if one is not None:
        return {one: 1}
    return {} if kind in _FREE else {kind: 1}


def _gp3(size: int, iops: int, throughput: int) -> dict[str, int]:
    return {GP3: size, GP3_IOPS: max(0, iops - IOPS), GP3_THROUGHPUT: max(0, throughput - THROUGHPUT)}


def _rows(document: Document, key: str) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", document.get(key) or [])


def _number(inputs: Mapping[str, object], key: str) -> int:
    # Pulumi's states hold every number as a float.
    value = inputs.get(key)
    return int(value) if isinstance(value, int | float) else 0
