"""The kernel of a pool: which release is locked, the packages that hold it, and when it moves."""

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

from gpuprov.catalog.rows import SystemRow
from gpuprov.lock.pool_input import KernelNeed, Request
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.version import sort_key
from gpuprov.spec.stack import FREE, HOLD
from gpuprov.spec.types import PoolSpec

if TYPE_CHECKING:
    from gpuprov.lock.index import Index, Stanza
    from gpuprov.lock.types import Lock

KERNEL: Final = "kernel"
"""The name that `lock --upgrade` knows the kernel by."""

_IMAGE: Final = "linux-image-"
_HEADERS: Final = "linux-headers-"
_RELEASE: Final = re.compile(r"[0-9]+\.[0-9]+")
_OS: Final = "os"
_SHOWN: Final = 5


def kernel_need(pool: PoolSpec, row: SystemRow, arch: str, address: str) -> KernelNeed | None:
    """What a pool asks of its kernel; None where the spec leaves it to the OS.

    Args:
        pool: the pool.
        row: of its operating system.
        arch: `amd64` or `arm64`.
        address: of the field that asks.

    Raises:
        GpuprovError: GP-SPEC-005 for `hold` in a pool whose hosts have kernels of two kinds.
    """
    asked = pool.stack.kernel
    if asked == FREE:
        return None
    if asked == HOLD and pool.cloud is not None and pool.onprem is not None:
        raise GpuprovError(_two_kinds(pool, address))
    kinds = row.cloud_kernel if pool.cloud is not None and row.cloud_kernel else row.kernel_image
    image = (kinds or "").replace("<arch>", arch)
    return KernelNeed(release="" if asked == HOLD else asked, image=image, address=address)


def kernel_names(release: str) -> tuple[str, ...]:
    """The packages of one kernel: the image, and the headers that its modules are built with."""
    return (f"{_IMAGE}{release}", f"{_HEADERS}{release}") if release else ()


def kernel_requests(release: str, address: str) -> tuple[Request, ...]:
    """The packages of one kernel as requests."""
    return tuple(Request(name=name, constraint="", source=_OS, address=address) for name in kernel_names(release))


def locked_release(need: KernelNeed, index: "Index", kept: str) -> str | Diagnostic:
    """The release that a new lock holds.

    Args:
        need: what the pool asks.
        index: what is offered.
        kept: the release of the earlier lock; empty where there is none, or where it may move.

    Returns:
        The release, or why there is none.
    """
    release = need.release or kept or offered_release(need, index)
    if not release:
        return Diagnostic(
            code="GP-LOCK-001",
            address=need.address,
            summary=f"the OS archive offers no {need.image}, whose kernel `hold` takes",
            hint="name the release, such as `kernel: 6.1.0-37-amd64`, or write `kernel: free`",
        )
    missing = [name for name in kernel_names(release) if not any(map(_of_os, index.stanzas(name)))]
    return _gone(need, index, release, missing) if missing else release


def offered_release(need: KernelNeed, index: "Index") -> str:
    """The release that the metapackage brings now; empty where it is not offered."""
    found = sorted(filter(_of_os, index.stanzas(need.image)), key=lambda s: (s.pin, sort_key(s.version)), reverse=True)
    names = (relation.name for stanza in found[:1] for group in stanza.needs for relation in group)
    return next((name.removeprefix(_IMAGE) for name in names if _release_of(name)), "")


def kept_release(previous: "Lock | None", pool: str, system: tuple[str, str], upgrade: Collection[str]) -> str:
    """The release of an earlier lock, where it stays: it moves with `--upgrade kernel` alone, not with all the rest.

    Args:
        previous: the earlier lock.
        pool: name of the pool.
        system: its OS and architecture now.
        upgrade: names that may move.
    """
    before = previous.pools.get(pool) if previous is not None else None
    if before is None or KERNEL in upgrade or (before.os, before.arch) != system:
        return ""
    return before.kernel


def _of_os(stanza: "Stanza") -> bool:
    from gpuprov.lock.candidates import from_source  # noqa: PLC0415 - `validate` chooses no version

    return from_source(stanza.row, _OS)


def _release_of(name: str) -> str:
    release = name.removeprefix(_IMAGE)
    return release if release != name and _RELEASE.match(release) else ""


def _releases(index: "Index") -> Iterable[str]:
    """Kernels whose image and headers are both offered, newest first."""
    found = {release for name in index.names() if (release := _release_of(name))}
    whole = (r for r in found if all(any(map(_of_os, index.stanzas(name))) for name in kernel_names(r)))
    return sorted(whole, key=lambda r: (sort_key(r), r), reverse=True)


def _gone(need: KernelNeed, index: "Index", release: str, missing: Collection[str]) -> Diagnostic:
    import difflib  # noqa: PLC0415 - only needed on the way out, and slow to import

    offered = list(_releases(index))
    shown = ", ".join(offered[:_SHOWN]) + (f" and {len(offered) - _SHOWN} more" if len(offered) > _SHOWN else "")
    near = difflib.get_close_matches(release, offered, n=1, cutoff=0.6)
    held = not need.release
    told = "the kernel {} that the lock holds is no longer offered" if held else "the kernel {} is not offered"
    way = "`gpuprov lock --upgrade kernel` takes the one that is offered now" if held else ""
    return Diagnostic(
        code="GP-LOCK-001",
        address=need.address,
        summary=f"{told.format(release)} by the OS archive: there is no {' and no '.join(missing)}",
        detail=f"Offered are: {shown or 'none'}.",
        hint=way or (f"did you mean {near[0]}?" if near else "name one that is offered, or a source that has it"),
    )


def _two_kinds(pool: PoolSpec, address: str) -> Diagnostic:
    return Diagnostic(
        code="GP-SPEC-005",
        summary=f"the hosts of the pool {pool.name} in the rack and in the cloud have kernels of two kinds to hold",
        address=address,
        hint="name the release that both shall run, or give the hosts of each target a pool of their own",
    )
