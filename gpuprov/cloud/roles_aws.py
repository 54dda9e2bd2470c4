"""Roles that the account has before gpuprov comes: whether hosts can act as one, and by which instance profile."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gpuprov.cloud.aws_errors import code_of
from gpuprov.model.diagnostic import Diagnostic, GpuprovError

_EC2: Final = "ec2.amazonaws.com"
"""EC2's name as a principal, in China too (IAM User Guide, Using an IAM role to grant permissions to applications
running on EC2, read 2026-11-30)."""


def profile_of(iam: Any, role: str) -> str:
    """The instance profile of a role; see `Account.instance_profile`."""
    try:
        found = iam.get_role(RoleName=role)["Role"]
    except iam.exceptions.ClientError as error:
        if code_of(error) != "NoSuchEntity":
            raise
        raise GpuprovError(
            Diagnostic(
                code="GP-CLOUD-040",
                address=role,
                summary=f"the account has no role {role}",
                hint="`aws iam list-roles` lists them; `pools.NAME.cloud.role` takes the name, without path or ARN",
            )
        ) from error
    if not _lets_in(found["AssumeRolePolicyDocument"]):
        raise GpuprovError(
            Diagnostic(
                code="GP-CLOUD-041",
                address=role,
                summary=f"the trust policy of the role {role} does not let EC2 take it on",
                detail=f"it has no statement that allows sts:AssumeRole to the service {_EC2} without a condition",
                hint="have it added, or name another role in `pools.NAME.cloud.role`",
            )
        )
    pages = iam.get_paginator("list_instance_profiles_for_role").paginate(RoleName=role)
    profiles = [profile["InstanceProfileName"] for page in pages for profile in page["InstanceProfiles"]]
    if role in profiles:  # what the console of AWS makes together with the role
        return role
    if len(profiles) == 1:
        return str(profiles[0])
    there = f"it has {len(profiles)}: {', '.join(sorted(profiles))}" if profiles else "it has none"
    raise GpuprovError(
        Diagnostic(
            code="GP-CLOUD-042",
            address=role,
            summary=f"hosts act as the role {role} by an instance profile, and {there}",
            hint=f"`aws iam create-instance-profile --instance-profile-name {role}`, then"
            f" `aws iam add-role-to-instance-profile --instance-profile-name {role} --role-name {role}`",
        )
    )


def _lets_in(document: Mapping[str, Any]) -> bool:
    return any(
        statement.get("Effect") == "Allow"
        and not statement.get("Condition")
        and {"sts:assumerole", "sts:*", "*"} & {action.lower() for action in _listed(statement.get("Action"))}
        and _EC2 in _listed(_service(statement.get("Principal")))
        for statement in _listed_statements(document.get("Statement"))
    )


def _service(principal: Any) -> Any:
    return principal.get("Service") if isinstance(principal, Mapping) else None


def _listed(value: Any) -> list[str]:
    """A policy's value, which may be a text or a list."""
    return [value] if isinstance(value, str) else [str(one) for one in value or ()]


def _listed_statements(value: Any) -> Iterable[Mapping[str, Any]]:
    return [value] if isinstance(value, Mapping) else list(value or ())
