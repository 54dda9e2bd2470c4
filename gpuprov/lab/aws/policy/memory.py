"""moto's memory of an account, as far as IAM's questions go: whose tags, which role."""

import base64
import re
from collections.abc import Mapping
from typing import Any, Final

from moto.efs.models import efs_backends
from moto.iam.models import iam_backends
from moto.kms.models import kms_backends

from gpuprov.lab.aws.efa import template_parts
from gpuprov.lab.aws.placement import group_id
from gpuprov.lab.aws.policy.reading import listed
from gpuprov.lab.aws.request import ApiRequest

_KINDS: Final = {
    "ami": "image",
    "cr": "capacity-reservation",
    "eipalloc": "elastic-ip",
    "eni": "network-interface",
    "i": "instance",
    "igw": "internet-gateway",
    "lt": "launch-template",
    "nat": "natgateway",
    "rtb": "route-table",
    "sg": "security-group",
    "sgr": "security-group-rule",
    "snap": "snapshot",
    "subnet": "subnet",
    "vol": "volume",
    "vpc": "vpc",
    "vpce": "vpc-endpoint",
}
"""How an id begins -> type of resource, as the reference calls it (EC2 User Guide, Resource IDs)."""
_ID: Final = re.compile(r"([a-z]+)-[0-9a-f]{8,17}")
_PLACEMENT: Final = frozenset({("DeletePlacementGroup", "GroupName"), ("RunInstances", "Placement.GroupName")})
"""Where a call names a placement group, which goes by its name."""
_TAG: Final = re.compile(r"(^|\.)Tag\.\d+\.")
"""A tag may hold the id of something that the call does not touch."""
_KEY_ID: Final = 36
"""Letters of the id of a key of KMS."""
_GLOBAL: Final = "aws"
"""moto's region of services that have none: the partition's name."""


class MotoMemory:
    """What moto holds of one account in one region.

    Args:
        account: its number.
        ec2: moto's backend of EC2.
    """

    def __init__(self, account: str, ec2: Any) -> None:
        self.account = account
        self._ec2 = ec2

    def resources(self, call: ApiRequest) -> Mapping[str, tuple[str, ...]]:
        """Type of resource -> ids that the call names, and those that an association which it names joins."""
        found: dict[str, list[str]] = {}
        for name, value in call.parameters.items():
            if name.startswith("Filter.") or _TAG.search(name):
                continue
            for identity in (value, *self._joined(value)):
                match = _ID.fullmatch(identity)
                if match and match[1] in _KINDS:
                    found.setdefault(_KINDS[match[1]], []).append(identity)
            if (call.action, name) in _PLACEMENT:
                found.setdefault("placement-group", []).append(value)
        for identity in template_parts(self._ec2, call):
            found.setdefault(_KINDS[identity.partition("-")[0]], []).append(identity)
        return {kind: listed(ids) for kind, ids in found.items()}

    def tags(self, identity: str) -> Mapping[str, str]:
        """Tags of a resource of EC2."""
        return dict(self._ec2.tags.get(group_id(self._ec2, identity) or identity, {}))

    def type_of(self, instance: str) -> str:
        """Type of an instance; empty for none."""
        found = next((each for each in self._ec2.all_instances() if each.id == instance), None)
        return "" if found is None else str(found.instance_type)

    def passed_role(self, call: ApiRequest) -> str:
        """ARN of the role that a call passes; empty for none."""
        if name := call.parameters.get("RoleName"):
            return next((str(role.arn) for role in self._iam.get_roles() if role.name == name), "")
        profile = call.parameters.get("IamInstanceProfile.Name")
        arn = call.parameters.get("IamInstanceProfile.Arn")
        for each in self._iam.get_instance_profiles():
            if each.name == profile or (arn and each.arn == arn):
                return next((str(role.arn) for role in each.roles), "")
        return ""

    def boundary(self, role: str) -> str:
        """ARN of a role's permissions boundary; empty for none."""
        found = next((each for each in self._iam.get_roles() if each.name == role), None)
        return str(found.permissions_boundary_arn or "") if found is not None else ""

    def file_system(self, call: ApiRequest) -> str:
        """Id of the file system of EFS that a call names, itself or by one of its mount targets; empty for none."""
        text = " ".join((call.path, *call.parameters.values()))
        if found := re.search(r"\bfs-[0-9a-f]+", text):
            return found[0]
        target = re.search(r"\bfsmt-[0-9a-f]+", text)
        there = self._efs.mount_targets_by_id.get(target[0]) if target else None
        return str(there.file_system_id) if there is not None else ""

    def share_tags(self, system: str) -> Mapping[str, str]:
        """Tags of a file system of EFS."""
        if system not in self._efs.file_systems_by_id:
            return {}
        return {tag["Key"]: tag["Value"] for tag in self._efs.list_tags_for_resource(system)}

    def key(self, call: ApiRequest) -> tuple[str, tuple[str, ...]]:
        """ARN of the key of KMS that a call is about, and its aliases; empty for none.

        What is to be decrypted says itself by which key; moto writes the key's id in front of it.
        """
        held = kms_backends[self.account][self._ec2.region_name]
        named = call.parameters.get("KeyId", "")
        if alias := named.partition("alias/")[2]:
            named = str(held.get_key_id_from_alias(f"alias/{alias}") or "")
        named = named.rpartition(":key/")[2]
        if not named and (text := call.parameters.get("CiphertextBlob")):
            named = base64.b64decode(text)[:_KEY_ID].decode("ascii", "replace")
        key = held.keys.get(named)
        return ("", ()) if key is None else (str(key.arn), tuple(sorted(key.aliases)))

    @property
    def _efs(self) -> Any:
        return efs_backends[self.account][self._ec2.region_name]

    @property
    def _iam(self) -> Any:
        return iam_backends[self.account][_GLOBAL]

    def _joined(self, value: str) -> tuple[str, ...]:
        """The two ends of an association."""
        if value.startswith("rtbassoc-"):
            for table in self._ec2.route_tables.values():
                for each in table.associations:
                    if each["RouteTableAssociationId"] == value:
                        return (str(table.id), str(each.get("SubnetId") or ""))
        if value.startswith("iip-assoc-"):
            for association in self._ec2.iam_instance_profile_associations.values():
                if association.association_id == value:
                    return (str(association.instance.id),)
        return ()
