"""Where moto is kinder than AWS, or fails itself: calls that AWS refuses, and defaults that it has otherwise.

Read in moto 5.2.5 and compared with EC2's API reference and its list of error codes (2026-11-30), IAM's (2026-12-01).
"""

from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.models.security_groups import SecurityGroupRule
from moto.ec2.responses.instances import InstanceResponse
from moto.iam.exceptions import NotFoundException
from moto.iam.models import IAMBackend

from gpuprov.lab.aws.errors import refusal
from gpuprov.lab.aws.hooks import Hook
from gpuprov.lab.aws.request import parameter

_GP3_IOPS = range(3000, 80001)
"""What a gp3 volume may have (EBS user guide, General Purpose SSD volumes, 2026-11)."""


def correction_hooks() -> tuple[Hook, ...]:
    """Return the hooks of all corrections that need nothing of the lab."""
    return (
        Hook(EC2Backend, "delete_security_group", _delete_security_group),
        Hook(EC2Backend, "delete_subnet", _delete_subnet),
        Hook(EC2Backend, "delete_vpc", _delete_vpc),
        Hook(EC2Backend, "detach_internet_gateway", _detach_internet_gateway),
        Hook(EC2Backend, "describe_snapshots", _describe_snapshots),
        Hook(EC2Backend, "modify_instance_security_groups", _modify_instance_security_groups),
        Hook(EC2Backend, "replace_iam_instance_profile_association", _replace_profile),
        Hook(IAMBackend, "remove_role_from_instance_profile", _remove_role),
        Hook(InstanceResponse, "_parse_block_device_mapping", _parse_block_device_mapping),
        Hook(SecurityGroupRule, "description", _rule_description),
    )


def check_volume(volume_type: str | None, iops: int | None) -> None:
    """Refuse what gp3 cannot do; moto takes any number.

    Raises:
        Exception: EC2's error.
    """
    if volume_type == "gp3" and iops is not None and int(iops) not in _GP3_IOPS:
        raise refusal(
            "InvalidParameterValue",
            f"Volume iops of {iops} is not in the range {_GP3_IOPS.start} - {_GP3_IOPS.stop - 1} for gp3.",
        )


def check_attachment(volume: Any, instance: Any, device: str) -> None:
    """Refuse an attachment that EC2 refuses; moto takes a volume of another zone, twice, and a device that is taken.

    Raises:
        Exception: EC2's error.
    """
    if volume.zone.name != instance.placement.zone:
        raise refusal(
            "InvalidVolume.ZoneMismatch",
            f"The volume '{volume.id}' is not in the same availability zone as instance '{instance.id}'",
        )
    if volume.attachment is not None:
        raise refusal("VolumeInUse", f"{volume.id} is already attached to an instance")
    if instance.state in ("shutting-down", "terminated"):
        raise refusal("IncorrectState", f"Instance '{instance.id}' is not 'running'.")
    if device in instance.block_device_mapping:
        raise refusal(
            "InvalidParameterValue",
            f"Invalid value '{device}' for unixDevice. Attachment point {device} is already in use",
        )


def _delete_security_group(original: Any, backend: Any, name: str | None = None, group_id: str | None = None) -> Any:
    """EC2: a group that an interface or another group's rule names cannot go."""
    group = backend.get_security_group_by_name_or_id(group_id or name)
    if group is not None and not group.is_default:
        used = any(group in eni.group_set for eni in list(backend.enis.values()))
        others = [other for other in backend.groups[group.vpc_id].values() if other.id != group.id]
        rules = [rule for other in others for rule in (*other.ingress_rules, *other.egress_rules)]
        if used or any(rule.source_group.get("GroupId") == group.id for rule in rules):
            raise refusal("DependencyViolation", f"resource {group.id} has a dependent object")
    return original(backend, name, group_id)


def _delete_subnet(original: Any, backend: Any, subnet_id: str) -> Any:
    """EC2: a subnet with a network interface in it cannot go."""
    if any(eni.subnet.id == subnet_id for eni in list(backend.enis.values())):
        raise refusal("DependencyViolation", f"The subnet '{subnet_id}' has dependencies and cannot be deleted.")
    return original(backend, subnet_id)


def _delete_vpc(original: Any, backend: Any, vpc_id: str) -> Any:
    """EC2: a VPC with a gateway or with groups other than its default one cannot go."""
    gateways = [g for g in backend.internet_gateways.values() if g.vpc is not None and g.vpc.id == vpc_id]
    groups = [group for group in backend.groups[vpc_id].values() if not group.is_default]
    if gateways or groups:
        raise refusal("DependencyViolation", f"The vpc '{vpc_id}' has dependencies and cannot be deleted.")
    return original(backend, vpc_id)


def _detach_internet_gateway(original: Any, backend: Any, internet_gateway_id: str, vpc_id: str) -> Any:
    """EC2: a gateway stays while an interface behind it has a public address."""
    if any(eni.vpc_id == vpc_id and eni.public_ip for eni in list(backend.enis.values())):
        text = f"Network {vpc_id} has some mapped public address(es). Please unmap those before detaching the gateway."
        raise refusal("DependencyViolation", text)
    return original(backend, internet_gateway_id, vpc_id)


def _remove_role(original: Any, backend: Any, profile_name: str, role_name: str) -> Any:
    """IAM: a role that is not in the profile is not found (RemoveRoleFromInstanceProfile); moto answers 500."""
    if role_name not in {role.name for role in backend.get_instance_profile(profile_name).roles}:
        text = f"The role with name {role_name} cannot be found in the instance profile {profile_name}."
        raise NotFoundException(text)
    return original(backend, profile_name, role_name)


def _describe_snapshots(original: Any, backend: Any, *args: Any, **kwargs: Any) -> Any:
    """EC2: only the snapshots of the owners that were asked for; moto returns all."""
    found = original(backend, *args, **kwargs)
    owner = parameter("Owner.1")
    wanted = backend.account_id if owner == "self" else owner
    return found if wanted is None else [snapshot for snapshot in found if snapshot.owner_id == wanted]


def _modify_instance_security_groups(original: Any, backend: Any, instance_id: str, new_group_id_list: Any) -> Any:
    """EC2: the interface's groups are the new ones; moto keeps the old ones beside them."""
    instance = original(backend, instance_id, new_group_id_list)
    for nic in instance.nics.values():
        nic._group_set = list(instance.security_groups)  # noqa: SLF001 (moto has no other way)
    return instance


def _replace_profile(original: Any, backend: Any, association_id: str, *args: Any, **kwargs: Any) -> Any:
    """EC2: the instance shows its new profile; moto shows the old one."""
    association = original(backend, association_id, *args, **kwargs)
    profile = {"Arn": association.iam_instance_profile.arn, "Id": association_id}
    backend.modify_instance_attribute(association.instance.id, "iam_instance_profile", profile)
    return association


def _parse_block_device_mapping(original: Any, response: Any) -> Any:
    """EC2: a volume made with its instance goes with it unless the call says otherwise; moto keeps it."""
    mappings = original(response)
    asked = response._get_param("BlockDeviceMappings", [])  # noqa: SLF001 (moto has no other way)
    for mapping, device in zip(mappings, asked, strict=True):
        if "DeleteOnTermination" not in device.get("Ebs", {}):
            mapping["Ebs"]["DeleteOnTermination"] = True
    return mappings


def _rule_description(original: Any, rule: Any) -> Any:
    """EC2: a rule about a group shows its description too; moto shows only that of a range."""
    return original(rule) or rule.source_group.get("Description")
