"""The tree that an instance's metadata service shows: names as in EC2's User Guide (instance metadata categories)."""

import json
from collections.abc import Mapping

from gpuprov.lab.aws.metadata_file import InstanceMetadata

Tree = Mapping[str, "Tree | str"]
VERSIONS = (
    "1.0",
    "2007-01-19",
    "2008-02-01",
    "2009-04-04",
    "2011-01-01",
    "2012-01-12",
    "2014-02-25",
    "2016-09-02",
    "2018-09-24",
    "2019-10-01",
    "2020-10-27",
    "2021-03-23",
    "2021-07-15",
    "2022-09-24",
    "latest",
)
"""Some of EC2's; cloud-init asks for 2021-03-23, 2018-09-24, 2016-09-02 and 2009-04-04 (its 22.4.2 and 25.1.4)."""
_ROOT_DEVICE = "/dev/xvda"


def answer(metadata: InstanceMetadata, path: str) -> str | bytes | None:
    """Return what stands at a path, a listing for a folder; None when nothing does.

    Args:
        metadata: the instance that asks.
        path: the path of the request, with its version, for example "/latest/meta-data/ami-id".
    """
    parts = [part for part in path.split("/") if part]
    if not parts:
        return "\n".join(VERSIONS)
    version, *rest = parts
    if version not in VERSIONS:
        return None
    if rest == ["user-data"]:
        return metadata.user_data
    return _walk(_top(metadata), rest)


def _walk(tree: Tree, parts: list[str]) -> str | None:
    """Return a leaf's text or a folder's listing."""
    here: Tree | str = tree
    for part in parts:
        if isinstance(here, str) or part not in here:
            return None
        here = here[part]
    return here if isinstance(here, str) else listing(here)


def listing(tree: Tree) -> str:
    """Return a folder's listing: a folder's name ends with a slash, a key pair's is `0=NAME`."""
    lines = []
    for name, what in sorted(tree.items()):
        if isinstance(what, str):
            lines.append(name)
        elif "openssh-key" in what:
            lines.append(f"{name}=key")
        else:
            lines.append(f"{name}/")
    return "\n".join(lines)


def _top(metadata: InstanceMetadata) -> Tree:
    """The tree below a version, without the user data, which may be any bytes."""
    top: dict[str, Tree | str] = {
        "meta-data": metadata_tree(metadata),
        "dynamic": {"instance-identity": {"document": _identity_document(metadata)}},
    }
    if metadata.user_data is not None:
        top["user-data"] = ""
    return top


def metadata_tree(metadata: InstanceMetadata) -> Tree:
    """Return the tree `meta-data`: only what the instance has."""
    tree: dict[str, Tree | str] = {
        "ami-id": metadata.ami_id,
        "ami-launch-index": "0",
        "ami-manifest-path": "(unknown)",
        "block-device-mapping": {"ami": _ROOT_DEVICE, "root": _ROOT_DEVICE},
        "hostname": metadata.hostname,
        "instance-action": "none",
        "instance-id": metadata.instance_id,
        "instance-life-cycle": "on-demand",
        "instance-type": metadata.instance_type,
        "local-hostname": metadata.hostname,
        "local-ipv4": metadata.private_address,
        "mac": metadata.mac,
        "network": {"interfaces": {"macs": {metadata.mac: _interface(metadata)}}},
        "placement": _placement(metadata),
        "security-groups": "\n".join(metadata.security_groups),
        "services": {"domain": "amazonaws.com", "partition": "aws"},
        **_public(metadata),
    }
    if metadata.reservation_id:
        tree["reservation-id"] = metadata.reservation_id
    if metadata.public_key:
        tree["public-keys"] = {"0": {"openssh-key": metadata.public_key}}
    if metadata.profile_arn:
        tree["iam"] = _iam(metadata)
    if metadata.tags is not None:
        tree["tags"] = {"instance": dict(metadata.tags)}
    return tree


def _public(metadata: InstanceMetadata) -> dict[str, str]:
    """What only an instance with a public address has."""
    if metadata.public_address is None:
        return {}
    return {"public-hostname": metadata.public_hostname, "public-ipv4": metadata.public_address}


def _placement(metadata: InstanceMetadata) -> dict[str, str]:
    """Where the instance is."""
    zone_id = {"availability-zone-id": metadata.zone_id} if metadata.zone_id else {}
    return {"availability-zone": metadata.zone, "region": metadata.region, **zone_id}


def _interface(metadata: InstanceMetadata) -> Tree:
    """The one network interface."""
    public = {f"{name}s": text for name, text in _public(metadata).items() if name == "public-ipv4"}
    return {
        "device-number": "0",
        "interface-id": metadata.interface_id,
        "local-hostname": metadata.hostname,
        "local-ipv4s": metadata.private_address,
        "mac": metadata.mac,
        "owner-id": metadata.account,
        "security-group-ids": "\n".join(metadata.security_group_ids),
        "security-groups": "\n".join(metadata.security_groups),
        "subnet-id": metadata.subnet_id,
        "subnet-ipv4-cidr-block": metadata.subnet_cidr,
        "vpc-id": metadata.vpc_id,
        "vpc-ipv4-cidr-block": metadata.vpc_cidr,
        "vpc-ipv4-cidr-blocks": metadata.vpc_cidr,
        **public,
    }


def _iam(metadata: InstanceMetadata) -> Tree:
    """The instance profile, and the credentials of its role."""
    info = {
        "Code": "Success",
        "LastUpdated": metadata.pending_time,
        "InstanceProfileArn": metadata.profile_arn,
        "InstanceProfileId": metadata.profile_id,
    }
    tree: dict[str, Tree | str] = {"info": json.dumps(info, indent=2)}
    keys = metadata.credentials
    if metadata.role and keys is not None:
        document = {
            "Code": "Success",
            "LastUpdated": keys.last_updated,
            "Type": "AWS-HMAC",
            "AccessKeyId": keys.access_key_id,
            "SecretAccessKey": keys.secret_access_key,
            "Token": keys.token,
            "Expiration": keys.expiration,
        }
        tree["security-credentials"] = {metadata.role: json.dumps(document, indent=2)}
    return tree


def _identity_document(metadata: InstanceMetadata) -> str:
    """The instance identity document, unsigned."""
    document = {
        "accountId": metadata.account,
        "architecture": metadata.architecture,
        "availabilityZone": metadata.zone,
        "billingProducts": None,
        "devpayProductCodes": None,
        "imageId": metadata.ami_id,
        "instanceId": metadata.instance_id,
        "instanceType": metadata.instance_type,
        "kernelId": None,
        "marketplaceProductCodes": None,
        "pendingTime": metadata.pending_time,
        "privateIp": metadata.private_address,
        "ramdiskId": None,
        "region": metadata.region,
        "version": "2017-09-30",
    }
    return json.dumps(document, indent=2)
