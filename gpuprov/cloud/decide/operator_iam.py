"""What an operator may do in IAM: with the roles that gpuprov makes, by their names; pass those that a spec names.

The trust policy of a role is written when it is made, and never changed: nobody can make it serve another purpose.
"""

from collections.abc import Iterator
from typing import Final

from gpuprov.cloud.decide.grants import Grant, Ground, each

_P: Final = "iam:"
_STACK: Final = "preview up destroy import"
_EC2: Final = "ec2.amazonaws.com"


def iam_grants(ground: Ground) -> Iterator[Grant]:
    """Every grant in IAM."""
    roles = [ground.iam("role", name) for name in ground.roles]
    if roles:
        yield from _roles(ground, roles)
        yield from _profiles(ground)
    yield from _service_roles(ground)
    brought = [ground.iam("role", name) for name in ground.brought]
    if brought:
        yield Grant(
            sid="LookAtNamedRoles",
            actions=each("preview up import", "GetRole ListInstanceProfilesForRole", prefix=_P),
            resources=dict.fromkeys(brought, "preview up import"),
        )
    if roles or brought:
        # "IfExists": what adds a role to a profile may not say yet which service it is for.
        yield Grant(
            sid="PassRoles",
            actions=each("up", "PassRole", prefix=_P),
            resources=dict.fromkeys((*roles, *brought), "up"),
            condition={"StringEqualsIfExists": {"iam:PassedToService": _EC2}},
        )


def _service_roles(ground: Ground) -> Iterator[Grant]:
    """AWS's own roles for its services, which the first one to use a service in an account makes unawares."""
    wanted = {"elasticfilesystem": ground.shares, "spot": ground.spot}
    services = [f"{service}.amazonaws.com" for service, used in wanted.items() if used]
    if services:
        yield Grant(
            sid="FirstUseOfServices",
            actions=each("up", "CreateServiceLinkedRole", prefix=_P),
            resources={ground.iam("role", f"aws-service-role/{service}/*"): "up" for service in services},
            condition={"StringEquals": {"iam:AWSServiceName": services}},
            unproved="EC2 and EFS User Guides, service-linked roles: the caller needs the right to make them",
        )


def _roles(ground: Ground, roles: list[str]) -> Iterator[Grant]:
    bound = {"ArnEquals": {"iam:PermissionsBoundary": ground.boundary}} if ground.boundary else {}
    yield Grant(
        sid="MakeRoles",
        actions=each("up", "CreateRole PutRolePolicy", prefix=_P)
        | (each("up", "PutRolePermissionsBoundary", prefix=_P) if ground.boundary else {}),
        resources=dict.fromkeys(roles, "up"),
        condition=bound,
    )
    yield Grant(
        sid="KeepRoles",
        actions=each(_STACK, "GetRolePolicy ListAttachedRolePolicies ListRolePolicies ListRoleTags", prefix=_P)
        | each("up destroy", "DeleteRole DeleteRolePolicy ListInstanceProfilesForRole", prefix=_P)
        | each("up import", "TagRole UpdateRole", prefix=_P)
        | each("up", "UntagRole", prefix=_P),
        resources=dict.fromkeys(roles, _STACK),
    )


def _profiles(ground: Ground) -> Iterator[Grant]:
    yield Grant(
        sid="KeepProfiles",
        actions=each("up destroy", "DeleteInstanceProfile RemoveRoleFromInstanceProfile", prefix=_P)
        | each(
            "up",
            "AddRoleToInstanceProfile CreateInstanceProfile UntagInstanceProfile",
            prefix=_P,
        )
        | each("up import", "TagInstanceProfile", prefix=_P),
        resources={ground.iam("instance-profile", name): "up destroy import" for name in ground.roles},
    )
