"""Who the hosts are to AWS: a role that may use the spec's buckets and prefixes, and nothing else."""

import json
from collections.abc import Mapping
from typing import Final

from gpuprov.cloud.decide.names import role_name
from gpuprov.cloud.decide.refusals import refuse
from gpuprov.cloud.decide.tags import Owner, tags
from gpuprov.spec.storage import StorageSpec

_POLICY_LIMIT: Final = 10_240
"""Most characters of a role's inline policies together, white space not counted (IAM quotas, read 2026-11-30)."""
_READ: Final = ("s3:GetObject",)
_WRITE: Final = ("s3:AbortMultipartUpload", "s3:DeleteObject", "s3:PutObject")
_VERSION: Final = "2012-10-17"
"""The policy language's current version; the older one knows no variables."""


def partition(region: str) -> str:
    """The partition that a region's ARNs begin with (AWS General Reference, ARNs, read 2026-11-30)."""
    starts = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
    return next((name for start, name in starts.items() if region.startswith(start)), "aws")


def identity_part(
    storage: Mapping[str, StorageSpec],
    buckets: Mapping[str, str],
    region: str,
    owner: Owner,
    *,
    stands: bool = False,
    pool: str = "",
    boundary: str | None = None,
) -> dict[str, object] | None:
    """The document's `identity`; None when there is nothing that hosts may do.

    A role that stands stays while there are hosts, then without a policy: the provider leaves an instance's profile
    as it is when the program drops it, so that a role made anew later would reach no standing host.

    Args:
        storage: the spec's.
        buckets: storage name -> bucket name.
        region: the region.
        owner: whose it is.
        stands: whether the hosts have a role already.
        pool: the pool whose role it is; empty for that of all pools which have none of their own.
        boundary: ARN of the policy that bounds it.

    Raises:
        GpuprovError: GP-SPEC-005 when the policy would be longer than AWS takes.
    """
    if not buckets and not stands:
        return None
    policy = host_policy(storage, buckets, region)
    length = len(json.dumps(policy, separators=(",", ":")))
    if length > _POLICY_LIMIT:
        raise refuse(
            "GP-SPEC-005",
            f"the hosts' policy for all buckets and prefixes has {length} characters",
            address="storage",
            detail=f"AWS takes {_POLICY_LIMIT}.",
            hint="name fewer prefixes, or put data that belongs together under one",
        )
    name = f"pool/{pool}" if pool else "main"
    return {
        "key": name,
        "name": role_name(owner.spec, region, pool),
        "assume_role_policy": {
            "Version": _VERSION,
            "Statement": [
                {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
            ],
        },
        "policy": policy,
        "permissions_boundary": boundary,
        "tags": tags(owner, "role", name, pool=pool),
        "profile_tags": tags(owner, "instance_profile", name, pool=pool),
    }


def host_policy(
    storage: Mapping[str, StorageSpec], buckets: Mapping[str, str], region: str
) -> dict[str, object] | None:
    """What hosts may do with these buckets; None when there are none."""
    statements = [
        statement
        for name, bucket in sorted(buckets.items())
        for statement in _statements(storage[name], f"arn:{partition(region)}:s3:::{bucket}")
    ]
    return {"Version": _VERSION, "Statement": statements} if statements else None


def tls_policy(bucket: str, region: str) -> dict[str, object]:
    """A bucket's own policy: whoever comes without TLS is refused."""
    arn = f"arn:{partition(region)}:s3:::{bucket}"
    return {
        "Version": _VERSION,
        "Statement": [
            {
                "Sid": "OnlyTLS",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:*",
                "Resource": [arn, f"{arn}/*"],
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            }
        ],
    }


def _statements(storage: StorageSpec, arn: str) -> tuple[dict[str, object], ...]:
    prefixes = sorted({_literal(prefix) for prefix in storage.prefixes})
    listing: dict[str, object] = {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": [arn]}
    if prefixes:
        # `runs/` alone is what a listing of the prefix itself asks for; `runs/*` is what one below it asks for.
        listing["Condition"] = {"StringLike": {"s3:prefix": [form for p in prefixes for form in (p, f"{p}*")]}}
    actions = sorted((*_READ, *(_WRITE if storage.write else ())))
    objects = [f"{arn}/{prefix}*" for prefix in prefixes] or [f"{arn}/*"]
    return listing, {"Effect": "Allow", "Action": actions, "Resource": objects}


def _literal(prefix: str) -> str:
    """A prefix that means itself in a policy, where `*`, `?` and `$` mean more (IAM User Guide, Policy variables)."""
    return "".join(f"${{{letter}}}" if letter in "*?$" else letter for letter in prefix)
