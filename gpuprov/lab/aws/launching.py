"""From moto's instance to what its machine is started with and tells about itself."""

import base64
from datetime import datetime
from typing import Any

from moto.sts.models import sts_backends

from gpuprov.lab.aws import network
from gpuprov.lab.aws.errors import text
from gpuprov.lab.aws.images import Layers
from gpuprov.lab.aws.machine import Launch
from gpuprov.lab.aws.metadata_file import Credentials, InstanceMetadata
from gpuprov.lab.description import GpuDescription

_CREDENTIAL_SECONDS = 6 * 3600
"""How long a role's credentials on an instance last; six hours on EC2."""


def launch_of(backend: Any, instance: Any, *, layers: Layers, gpu: GpuDescription | None) -> Launch:
    """Return what an instance is started with, by what moto knows now."""
    return Launch(layers=layers, gpu=gpu, metadata=metadata_of(backend, instance))


def metadata_of(backend: Any, instance: Any) -> InstanceMetadata:
    """Return what an instance's metadata service shows it."""
    subnet = backend.get_subnet(instance.subnet_id)
    groups = {group.id: group.name for nic in instance.nics.values() for group in nic.group_set}
    profile = _profile(backend, instance)
    role = profile.roles[0] if profile is not None and profile.roles else None
    options = instance.metadata_options
    tags = {tag["key"]: tag["value"] for tag in instance.get_tags()}
    key = backend.key_pairs.get(instance.key_name)
    return InstanceMetadata(
        instance_id=instance.id,
        vpc_id=instance.vpc_id,
        ami_id=instance.image_id,
        instance_type=instance.instance_type,
        account=backend.account_id,
        region=backend.region_name,
        zone=instance.placement.zone,
        hostname=instance.private_dns_name,
        private_address=instance.private_ip,
        mac=network.mac_of(instance.id),
        public_address=instance.public_ip,
        public_hostname=text(instance.public_dns_name),
        zone_id=subnet.availability_zone_id,
        subnet_id=subnet.id,
        subnet_cidr=subnet.cidr_block,
        vpc_cidr=backend.get_vpc(instance.vpc_id).cidr_block,
        interface_id=instance.nics[0].id,
        security_groups=tuple(groups.values()),
        security_group_ids=tuple(groups),
        architecture=instance.architecture,
        reservation_id=_reservation(backend, instance),
        pending_time=_stamp(instance.launch_time),
        user_data=None if instance.user_data is None else _decoded(instance.user_data),
        profile_arn="" if profile is None else profile.arn,
        profile_id="" if profile is None else profile.id,
        role="" if role is None else role.name,
        credentials=None if role is None else _credentials(backend, instance, role),
        tags=tags if options.instance_metadata_tags == "enabled" else None,
        public_key="" if key is None else text(key.material_public),
        enabled=options.http_endpoint != "disabled",
        tokens_required=options.http_tokens == "required",
        hop_limit=options.http_put_response_hop_limit,
    )


def _decoded(user_data: Any) -> bytes:
    """Return user data as the person wrote it; moto keeps it in base64."""
    return base64.b64decode(str(user_data))


def _profile(backend: Any, instance: Any) -> Any:
    """Return the instance profile; None without one."""
    association = backend.iam_instance_profile_associations.get(instance.id)
    return None if association is None else association.iam_instance_profile


def _credentials(backend: Any, instance: Any, role: Any) -> Credentials:
    """Have moto give out keys of a role, as EC2 does for an instance."""
    made = sts_backends[backend.account_id][backend.partition].assume_role(
        region_name=backend.region_name,
        role_session_name=instance.id,
        role_arn=role.arn,
        policy=None,
        duration=_CREDENTIAL_SECONDS,
        external_id=None,
    )
    return Credentials(
        access_key_id=made.access_key_id,
        secret_access_key=made.secret_access_key,
        token=made.session_token,
        last_updated=_stamp(instance.launch_time),
        expiration=_stamp(made.expiration),
    )


def _reservation(backend: Any, instance: Any) -> str:
    """Return the id of the call that made the instance."""
    return next((r.id for r in backend.reservations.values() if instance in r.instances), "")


def _stamp(moment: datetime) -> str:
    """Write a moment as EC2's metadata does."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
