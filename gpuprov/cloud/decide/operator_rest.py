"""What an operator may do beside EC2, IAM and the hosts' buckets: file systems, quotas, parameters, the state."""

from collections.abc import Iterator
from typing import Final

from gpuprov.cloud.decide.grants import ALL, Grant, Ground, each

_STACK: Final = "preview up destroy"
_EFS: Final = "elasticfilesystem:"


def rest_grants(ground: Ground) -> Iterator[Grant]:
    """Every grant of these services that the spec needs."""
    yield from _shares(ground)
    yield Grant(
        sid="LookAtQuotas",
        actions=each("preview up", "servicequotas:GetServiceQuota"),
        resources={"*": "preview up"},
        condition=ground.here,
    )
    if ground.reservation_groups:
        yield Grant(
            sid="LookAtReservations",
            actions=each("preview up import", "resource-groups:ListGroupResources"),
            resources=dict.fromkeys(ground.reservation_groups, "preview up import"),
        )
    if ground.parameters:
        yield Grant(
            sid="LookUpBaseImages",
            actions=each("lock", "ssm:GetParameter"),
            resources={_parameter(ground, name): "lock" for name in ground.parameters},
        )
    yield from _state(ground)


def _shares(ground: Ground) -> Iterator[Grant]:
    if not ground.shares:
        return
    systems = f"arn:{ground.partition}:elasticfilesystem:{ground.region}:{ground.account}:file-system/*"
    yield Grant(
        sid="LookAtShares",
        actions=each(_STACK, "DescribeMountTargetSecurityGroups", prefix=_EFS),
        resources={systems: _STACK},
        condition=ground.ours,
    )
    yield Grant(
        sid="MakeShares",
        actions=each("up", "CreateFileSystem TagResource", prefix=_EFS),
        resources={"*": "up"},
        condition=ground.new,
    )
    yield Grant(
        sid="ChangeShares",
        actions=each("up", "CreateMountTarget TagResource UntagResource", prefix=_EFS)
        | each("up destroy", "DeleteMountTarget", prefix=_EFS)
        | (each("up destroy", "DeleteFileSystem", prefix=_EFS) if ground.delete_data else {}),
        resources={systems: "up destroy"},
        condition=ground.ours,
    )
    yield Grant(
        sid="MountTargetsAsEfs",
        actions=each("up", "ec2:CreateNetworkInterface") | each("up destroy", "ec2:DeleteNetworkInterface"),
        resources={
            ground.ec2(kind): "up destroy" if kind == "network-interface" else "up"
            for kind in ("network-interface", "security-group", "subnet")
        },
        unproved="EFS API Reference, CreateMountTarget and DeleteMountTarget: what EFS asks of EC2 for the caller",
    )
    yield Grant(
        sid="SetSharesAsTheProvider",
        actions=each("up", "UpdateFileSystem", prefix=_EFS),
        resources={systems: "up"},
        condition=ground.ours,
        unproved="hashicorp/terraform-provider-aws, internal/service/efs (resourceFileSystemUpdate: throughput)",
    )
    yield Grant(
        sid="LookAtSharesAsTheProvider",
        actions=each(_STACK, "DescribeLifecycleConfiguration", prefix=_EFS),
        resources={systems: _STACK},
        condition=ground.ours,
        unproved="hashicorp/terraform-provider-aws, internal/service/efs (reads of file systems)",
    )


def _parameter(ground: Ground, name: str) -> str:
    """ARN of a parameter, whatever its version; public ones have no account in theirs.

    Not looked up: that ARN of a public one is to be checked in a real account.
    """
    account = "" if name.startswith("/aws/") else ground.account
    return f"arn:{ground.partition}:ssm:{ground.region}:{account}:parameter{name.partition(':')[0]}"


def _state(ground: Ground) -> Iterator[Grant]:
    if ground.state is not None:
        bucket, prefix = ground.state
        arn = f"arn:{ground.partition}:s3:::{bucket}"
        within = f"{prefix}/*" if prefix else "*"
        yield Grant(
            sid="ListTheState",
            actions=each(ALL, "s3:ListBucket"),
            resources={arn: ALL},
        )
        yield Grant(
            sid="KeepTheState",
            actions=each(ALL, "s3:DeleteObject s3:GetObject s3:PutObject"),
            resources={f"{arn}/{within}": ALL},
        )
    if ground.key:
        key, condition = _key(ground)
        yield Grant(
            sid="LockTheState",
            actions=each(ALL, "kms:Decrypt kms:Encrypt"),
            resources={key: ALL},
            condition=condition,
        )


def _key(ground: Ground) -> tuple[str, dict[str, object]]:
    """ARN of the key, or of all keys with a condition on its alias: rights on an alias are none on its key."""
    name = ground.key.removeprefix("awskms://").lstrip("/")
    if name.startswith("arn:") and ":alias/" not in name:
        return name, {}
    alias = name[name.rindex("alias/") :] if "alias/" in name else ""
    if not alias:
        return f"arn:{ground.partition}:kms:{ground.region}:{ground.account}:key/{name}", {}
    keys = f"arn:{ground.partition}:kms:{ground.region}:{ground.account}:key/*"
    return keys, {"ForAnyValue:StringEquals": {"kms:ResourceAliases": alias}}
