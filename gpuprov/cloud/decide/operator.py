"""The least policy of whoever runs gpuprov for one spec."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from gpuprov.cloud.decide.grants import Grant, Ground, each
from gpuprov.cloud.decide.names import ROLE_PREFIX
from gpuprov.cloud.decide.operator_ec2 import ec2_grants
from gpuprov.cloud.decide.operator_iam import iam_grants
from gpuprov.cloud.decide.operator_rest import rest_grants
from gpuprov.cloud.decide.operator_s3 import s3_grants

MANAGED_LIMIT: Final = 6_144
"""Most characters of a managed policy, white space not counted (IAM and STS quotas, read 2026-11-30)."""


def grants(ground: Ground) -> Iterator[Grant]:
    """Every grant that the commands need for a spec."""
    yield from ec2_grants(ground)
    yield from iam_grants(ground)
    yield from s3_grants(ground)
    yield from rest_grants(ground)
    yield from _finding(ground)


def operator_policy(ground: Ground, commands: Collection[str]) -> dict[str, Any]:
    """The policy as IAM takes it.

    Args:
        ground: what it is about.
        commands: of `COMMANDS`.
    """
    made = (grant.statement(commands) for grant in grants(ground))
    return {"Version": "2012-10-17", "Statement": [statement for statement in made if statement is not None]}


def pieces(policy: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """The policy in as many documents as it takes to be managed policies; one when it fits.

    A statement that is too long by itself has a document of its own.
    """
    made: list[list[Any]] = [[]]
    for statement in policy["Statement"]:
        longer = {**policy, "Statement": [*made[-1], statement]}
        if made[-1] and length(longer) > MANAGED_LIMIT:
            made.append([])
        made[-1].append(statement)
    return tuple({**policy, "Statement": statements} for statements in made)


def length(policy: Mapping[str, Any]) -> int:
    """Characters of a policy as IAM counts them."""
    return len(json.dumps(policy, separators=(",", ":")))


def _finding(ground: Ground) -> Iterator[Grant]:
    """What an interrupted run left is looked for by name and tag, whatever the spec says now.

    IAM, S3 and EFS list only the whole account, or the region.
    """
    yield Grant(
        sid="FindWhatWasLeft",
        actions=each("up destroy", "iam:ListInstanceProfiles iam:ListRoles s3:ListAllMyBuckets"),
        resources={"*": "up destroy"},
    )
    looking = "preview up destroy import" if ground.roles else "up destroy"
    yield Grant(
        sid="LookAtRoles",
        actions=each(looking, "iam:GetInstanceProfile iam:GetRole"),
        resources={ground.iam(kind, f"{ROLE_PREFIX}*"): looking for kind in ("instance-profile", "role")},
    )
