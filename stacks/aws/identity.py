"""The hosts' role, its policy and the instance profile."""

import json
from dataclasses import dataclass, field

import pulumi
from document import Identity
from pulumi_aws import iam


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeIdentity:
    """What an instance is started with."""

    profile: iam.InstanceProfile
    policies: list[pulumi.Resource] = field(default_factory=list)
    """What must be there before a host uses the role."""


def make_identity(identity: Identity) -> MadeIdentity:
    """Make a role that hosts act as."""
    key = identity["key"]
    role = iam.Role(
        f"role.{key}",
        name=identity["name"],
        assume_role_policy=json.dumps(identity["assume_role_policy"], sort_keys=True),
        permissions_boundary=identity["permissions_boundary"],
        tags=identity["tags"],
    )
    policies: list[pulumi.Resource] = []
    if identity["policy"] is not None:
        policies.append(
            iam.RolePolicy(
                f"role_policy.{key}",
                name="storage",
                role=role.name,
                policy=json.dumps(identity["policy"], sort_keys=True),
            )
        )
    profile = iam.InstanceProfile(
        f"instance_profile.{key}", name=identity["name"], role=role.name, tags=identity["profile_tags"]
    )
    return MadeIdentity(profile=profile, policies=policies)
