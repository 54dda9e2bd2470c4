"""What the metadata service knows of an instance: one file each, written by the account, read at every request."""

import base64
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gpuprov.lab.aws.vpcs import write_json
from gpuprov.lab.description import LabDescription
from gpuprov.lab.names import LabNames

_SECRET_MODE = 0o600


@dataclass(frozen=True, kw_only=True, slots=True)
class Credentials:
    """Temporary credentials of an instance's role; times are UTC, as `2026-11-30T06:00:00Z`."""

    access_key_id: str
    secret_access_key: str
    token: str
    last_updated: str
    expiration: str


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceMetadata:
    """An instance as it sees itself."""

    instance_id: str
    vpc_id: str
    """The VPC whose metadata service answers it."""
    ami_id: str
    instance_type: str
    account: str
    region: str
    zone: str
    """Availability zone, for example "us-east-1a"."""
    hostname: str
    """The private DNS name, for example "ip-10-20-0-5.ec2.internal"."""
    private_address: str
    mac: str
    """The hardware address of `eth0`: `network.mac_of(instance_id)`."""
    public_address: str | None = None
    public_hostname: str = ""
    zone_id: str = ""
    subnet_id: str = ""
    subnet_cidr: str = ""
    vpc_cidr: str = ""
    interface_id: str = ""
    security_groups: tuple[str, ...] = ()
    """Names of the security groups."""
    security_group_ids: tuple[str, ...] = ()
    architecture: str = "x86_64"
    reservation_id: str = ""
    pending_time: str = ""
    """When the instance was started, UTC, as `2026-11-30T06:00:00Z`."""
    user_data: bytes | None = field(default=None, repr=False)
    profile_arn: str = ""
    """The ARN of the instance profile; empty without one."""
    profile_id: str = ""
    role: str = ""
    """Name of the profile's role; empty without one."""
    credentials: Credentials | None = field(default=None, repr=False)
    """The role's."""
    tags: dict[str, str] | None = None
    """Shown only where the instance's metadata options ask for it; None otherwise."""
    public_key: str = ""
    """The key pair's public key line; empty without a key pair."""
    enabled: bool = True
    """HttpEndpoint."""
    tokens_required: bool = True
    """HttpTokens."""
    hop_limit: int = 1
    """HttpPutResponseHopLimit: how far a token travels."""


def write_metadata(lab: LabDescription, metadata: InstanceMetadata) -> None:
    """Write what the service shows to an instance, whole or not at all; it holds from the next request on."""
    stored = asdict(metadata)
    data = metadata.user_data
    stored["user_data"] = None if data is None else base64.b64encode(data).decode("ascii")
    write_json(_place(lab, metadata.vpc_id, metadata.instance_id), stored, mode=_SECRET_MODE)


def remove_metadata(lab: LabDescription, metadata: InstanceMetadata) -> None:
    """Remove what the service shows to an instance; nothing happens when it is not there."""
    _place(lab, metadata.vpc_id, metadata.instance_id).unlink(missing_ok=True)


def find_metadata(names: LabNames, vpc_id: str, private_address: str) -> InstanceMetadata | None:
    """Return the instance with this address in a VPC; None when none has it."""
    for place in _folder(names, vpc_id).glob("*.json"):
        try:
            stored = json.loads(place.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue  # terminated just now
        if stored["private_address"] == private_address:
            return _metadata_of(stored)
    return None


def _metadata_of(stored: dict[str, Any]) -> InstanceMetadata:
    """Turn what was written back into the value."""
    data, credentials = stored["user_data"], stored["credentials"]
    return InstanceMetadata(
        **{
            **stored,
            "user_data": None if data is None else base64.b64decode(data),
            "credentials": None if credentials is None else Credentials(**credentials),
            "security_groups": tuple(stored["security_groups"]),
            "security_group_ids": tuple(stored["security_group_ids"]),
        }
    )


def _folder(names: LabNames, vpc_id: str) -> Path:
    """The folder of the files of a VPC's instances."""
    return names.vpc_folder(vpc_id) / "metadata"


def _place(lab: LabDescription, vpc_id: str, instance_id: str) -> Path:
    """The file of an instance."""
    return _folder(LabNames(lab.id), vpc_id) / f"{instance_id}.json"
