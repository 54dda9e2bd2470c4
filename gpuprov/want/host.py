"""The want of a host: its pool's, with its own values."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from gpuprov.document.canonical import digest
from gpuprov.want.files import mount_files
from gpuprov.want.mounts import MountWant
from gpuprov.want.types import HostWant, PoolWant


def host_want(want: PoolWant, host: str, mounts: Sequence[MountWant] = ()) -> HostWant:
    """Say what one host must be.

    Args:
        want: its pool's.
        host: its name.
        mounts: its own, besides the pool's: volumes and shares that were made in the cloud.
    """
    pool = _with(want, mounts) if mounts else want
    return HostWant(host=host, pool=pool, digest=digest({"host": host, "pool": pool.digest}))


def _with(want: PoolWant, mounts: Sequence[MountWant]) -> PoolWant:
    whole = replace(
        want,
        mounts=tuple(sorted((*want.mounts, *mounts), key=lambda mount: mount.place)),
        files=tuple(sorted((*want.files, *mount_files(mounts)), key=lambda file: file.path)),
        digest="",
    )
    return replace(whole, digest=digest(asdict(whole)))
