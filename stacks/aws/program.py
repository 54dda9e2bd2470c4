"""The stack: makes what the document says, in an order that works in both directions, and tells what it made."""

from typing import Any

import pulumi
from document import Document, Volume
from fleet import attach_volume, make_instance
from identity import make_identity
from imports import take_in
from interfaces import make_templates
from network import make_network
from placement import make_placement_groups
from pulumi_aws import ebs, efs
from shares import make_access, make_share
from storage import make_bucket, make_volume

KIND = "StackDocument"
API_VERSION = "gpuprov/v1"


def program(document: Document) -> None:
    """Make the resources of a document.

    Args:
        document: as `document.py` describes it.

    Raises:
        pulumi.RunError: when the document is of another kind or version, or meant for another region.
    """
    _check(document)
    take_in(document.get("imports", {}))
    buckets = {bucket["name"]: make_bucket(bucket) for bucket in document["buckets"]}
    volumes = {volume["name"]: make_volume(volume) for volume in document["volumes"]}
    pulumi.export("buckets", {name: bucket.bucket for name, bucket in buckets.items()})
    pulumi.export("volumes", {name: volume.id for name, volume in volumes.items()})
    shares = {share["name"]: make_share(share) for share in document["shares"]}
    pulumi.export("shares", {name: share.dns_name for name, share in shares.items()})
    pulumi.export("hosts", _make_hosts(document, volumes, shares))


def _make_hosts(
    document: Document, volumes: dict[str, ebs.Volume], shares: dict[str, efs.FileSystem]
) -> dict[str, dict[str, Any]]:
    """Make the network and the hosts in it; tell of each host what gpuprov must know to reach it."""
    if document["network"] is None or document["security_group"] is None:
        return {}
    network = make_network(document["network"], document["security_group"])
    if document["share_access"] is not None:
        network.ways.extend(make_access(document["share_access"], shares, network))
    main = [document["identity"]] if document["identity"] is not None else []
    identities = {identity["key"]: make_identity(identity) for identity in (*main, *document["pool_identities"])}
    groups = make_placement_groups(document["placement_groups"])
    templates = make_templates(document["launch_templates"], network)
    hosts: dict[str, dict[str, Any]] = {}
    held: dict[str, list[Volume]] = {}
    for volume in document["volumes"]:
        if volume["host"] is not None:
            held.setdefault(volume["host"], []).append(volume)
    for entry in document["instances"]:
        attached = held.get(entry["name"], [])
        instance = make_instance(
            entry,
            network,
            identities[entry["identity"]] if entry["identity"] is not None else None,
            [volumes[volume["name"]] for volume in attached],
            public=document["network"]["public"],
            placement=groups[entry["placement_group"]].name if entry["placement_group"] is not None else None,
            template=templates[entry["launch_template"]].name if entry["launch_template"] is not None else None,
        )
        for volume in attached:
            attach_volume(volume, volumes[volume["name"]], instance)
        hosts[entry["name"]] = {
            "pool": entry["pool"],
            "instance_id": instance.id,
            "type": instance.instance_type,
            "image": instance.ami,
            "zone": instance.availability_zone,
            "private_address": instance.private_ip,
            "public_address": instance.public_ip,
        }
    return hosts


def _check(document: Document) -> None:
    found = (document.get("kind"), document.get("apiVersion"))
    if found != (KIND, API_VERSION):
        raise pulumi.RunError(f"this program takes a {KIND} of {API_VERSION}, not a {found[0]} of {found[1]}")
    region = pulumi.Config("aws").get("region")
    if region and region != document["region"]:
        raise pulumi.RunError(f"the document is for {document['region']}, but aws:region is {region}")
