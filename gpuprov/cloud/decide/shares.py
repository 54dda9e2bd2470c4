"""Shared storage: file systems of EFS, and the way to them from the hosts."""

from collections.abc import Collection, Mapping
from typing import Final

from gpuprov.cloud.decide.names import GROUP_LIMIT, group_name, shorten
from gpuprov.cloud.decide.standing import Standing
from gpuprov.cloud.decide.tags import Owner, tags
from gpuprov.spec.storage import SHARED, StorageSpec
from gpuprov.spec.types import PoolSpec

NFS_PORT: Final = 2049
"""What EFS listens on (Amazon EFS User Guide, Using VPC security groups, read 2026-11-30)."""
TOKEN_LIMIT: Final = 64
"""Longest creation token (EFS API Reference, CreateFileSystem, read 2026-11-30)."""
_THROUGHPUT: Final = "elastic"
"""What AWS recommends where nobody knows the load: it is paid by what is read and written, and has no credits that
run out in the middle of a training run (Amazon EFS User Guide, Performance, Throughput modes, read 2026-11-30)."""
ACCESS: Final = "shares"
"""Name of the security group of all shares, and of its rule."""


def share_names(
    storage: Mapping[str, StorageSpec], pools: Mapping[str, PoolSpec], standing: Standing, gone: Collection[str]
) -> tuple[str, ...]:
    """The file systems of a stack: those of the spec, and those that stand and that nobody named.

    A file system that the spec no longer holds is still mounted while resources are changed: hosts let go of it in the
    same run, later. It goes when it is named.

    Args:
        storage: the spec's.
        pools: the spec's.
        standing: what stands.
        gone: names of what a person lets go.
    """
    wanted = {
        name
        for name, each in storage.items()
        if each.kind == SHARED and any(pool.cloud and each.serves(who) for who, pool in pools.items())
    }
    return tuple(sorted(wanted | (set(standing.shares) - set(gone))))


def share_part(name: str, owner: Owner, given_tags: Mapping[str, str] | None = None) -> dict[str, object]:
    """One entry of the document's `shares`; it is encrypted, which is no decision."""
    return {
        "name": name,
        "creation_token": shorten(f"{owner.stack}/{name}", TOKEN_LIMIT),
        "throughput": _THROUGHPUT,
        "tags": dict(given_tags) if given_tags is not None else tags(owner, "share", name),
    }


def access_part(names: Collection[str], zones: Collection[str], owner: Owner) -> dict[str, object] | None:
    """The document's `share_access`: a mount target in each zone in use, for the hosts alone; None for no share.

    What travels is not encrypted by EFS itself: Debian and Ubuntu have no package of AWS's mount helper, which wraps
    NFS into TLS. It stays within the network, between members of two security groups.
    """
    if not names:
        return None
    group = {
        "name": shorten(f"{group_name(owner.stack)}-{ACCESS}", GROUP_LIMIT),
        "description": shorten(f"Shared storage of {owner.spec}, made by gpuprov", GROUP_LIMIT),
        "port": NFS_PORT,
        "tags": tags(owner, "security_group", ACCESS),
        "rule_tags": tags(owner, "ingress", ACCESS),
    }
    targets = [
        {"name": f"{name}/{zone}", "share": name, "subnet": zone} for name in sorted(names) for zone in sorted(zones)
    ]
    return {"group": group, "targets": targets}
