"""Names of resources in the account: legal, at most as long as AWS allows, and equal for equal specs."""

import hashlib
import re
from typing import Final

ROLE_PREFIX: Final = "gpuprov-"
"""How every role of ours begins, and its instance profile."""
ROLE_LIMIT: Final = 64
"""Longest name of an IAM role (IAM and STS quotas, read 2026-11-30); an instance profile may have 128."""
BUCKET_LIMIT: Final = 63
"""Longest name of a bucket (Amazon S3 User Guide, General purpose bucket naming rules, read 2026-11-30)."""
GROUP_LIMIT: Final = 255
"""Longest name and description of a security group (EC2 API Reference, CreateSecurityGroup, read 2026-11-30)."""

_DIGEST: Final = 8
_RESERVED: Final = ("xn--", "sthree-", "amzn-s3-demo-")
"""Beginnings that S3 keeps for itself; its reserved endings cannot occur: our names end with a region."""


def shorten(text: str, limit: int, *, identity: str = "") -> str:
    """A text that fits: itself, or its beginning and a digest over what it stood for.

    Args:
        text: the whole name.
        limit: most characters; at least 10.
        identity: what the digest is taken over; the text itself when left out.
    """
    if len(text) <= limit and not identity:
        return text
    end = "-" + hashlib.sha256((identity or text).encode()).hexdigest()[:_DIGEST]
    return text[: limit - len(end)].rstrip("-._/ ") + end


def role_name(spec: str, region: str, pool: str = "") -> str:
    """Name of the hosts' role and its instance profile; roles belong to the whole account, so the region is in it.

    A pool's own has a digest besides: the spec `a-us-east-1-b` could have a role of that very name.
    """
    whole = f"{ROLE_PREFIX}{spec}-{region}"
    return (
        shorten(f"{whole}-{pool}", ROLE_LIMIT, identity=f"{spec}/{region}/{pool}")
        if pool
        else shorten(whole, ROLE_LIMIT)
    )


def group_name(stack: str) -> str:
    """Name of the hosts' security group."""
    return shorten(f"gpuprov-{stack.replace(':', '-')}", GROUP_LIMIT)


def bucket_name(spec: str, storage: str, account: str, region: str) -> str:
    """Name of a bucket: `SPEC-STORAGE-ACCOUNT-REGION`, with a digest where that alone would be long or ambiguous.

    Bucket names are shared by every customer of AWS: account and region keep ours apart from other people's. Dots are
    legal and left out, since TLS certificates of S3 do not cover them. `a-b` with `c` and `a` with `b-c` would give
    one name, so a spec's name that holds a hyphen brings a digest.
    """
    plain = f"{spec}-{storage}"
    head = re.sub(r"[^a-z0-9-]", "-", plain.lower())
    end = f"-{account}-{region}"
    room = BUCKET_LIMIT - len(end)
    ambiguous = head != plain or "-" in spec or len(head) > room
    if head.startswith(_RESERVED):
        head, ambiguous = f"gp-{head}", True
    return shorten(head, room, identity=f"{spec}/{storage}" if ambiguous else "") + end
