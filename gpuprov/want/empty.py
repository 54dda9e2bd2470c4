"""The empty want: what a host must be after it was handed back."""

from dataclasses import asdict, replace

from gpuprov.document.canonical import digest
from gpuprov.want.types import PoolWant


def empty_want(pool: str, target: str, os: str, arch: str) -> PoolWant:
    """Want nothing: packages stay, holds are released, files and sources of gpuprov go.

    Args:
        pool: the pool that the host leaves.
        target: `onprem` or `cloud`.
        os: as the host has it, such as `debian-12`; empty when it does not matter.
        arch: as the host has it; empty when it does not matter.
    """
    want = PoolWant(
        pool=pool,
        target=target,
        os=os,
        arch=arch,
        packages=(),
        sources=(),
        files=(),
        services=(),
        exporters=(),
        driver=None,
        on_disk="",
        gpu=None,
        verify=(),
        digest="",
        hand_back=True,
    )
    return replace(want, digest=digest(asdict(want)))
