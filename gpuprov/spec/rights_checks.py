"""Checks of what groups may do with storage, and of roles and their bounds in the cloud."""

from collections.abc import Iterator
from typing import Final

from gpuprov.model.address import join
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.storage import LOCAL, VOLUME
from gpuprov.spec.suggest import did_you_mean
from gpuprov.spec.written import WrittenSpec

_BUCKET: Final = "object"
_DISKS: Final = frozenset({LOCAL, VOLUME})


def rights_problems(spec: WrittenSpec) -> Iterator[Diagnostic]:
    """What is wrong with the rights of groups on storage, and with a permissions boundary."""
    for name, group in (spec.access.groups if spec.access is not None else {}).items():
        at = join("access.groups", name)
        for field, names in (("read", group.read), ("write", group.write)):
            for index, storage in enumerate(names):
                yield from _right(spec, storage, f"{at}.{field}[{index}]", writing=field == "write")
        for index, storage in enumerate(group.read):
            if storage in group.write:
                what = f"who may write {storage} may read it"
                yield _wrong(f"{at}.read[{index}]", what, "name it in `write` alone")
    yield from _boundary(spec)


def _right(spec: WrittenSpec, name: str, at: str, *, writing: bool) -> Iterator[Diagnostic]:
    storage = spec.storage.get(name)
    if storage is None:
        yield Diagnostic(
            code="GP-SPEC-008",
            summary=f"there is no storage {name}",
            address=at,
            detail=f"Storage: {', '.join(spec.storage) or 'none'}.",
            hint=did_you_mean(name, list(spec.storage)) or f"add it: `storage: {{{name}: ...}}`",
        )
    elif storage.kind in _DISKS and not storage.mount:
        yield _wrong(at, f"{name} is not mounted, so nobody uses it by its files", f"write `mount: /{name}`")
    elif storage.kind not in {_BUCKET, *_DISKS}:
        yield Diagnostic(
            code="GP-SPEC-006",
            summary=f"rights on a storage of kind {storage.kind} are built by a later release",
            address=at,
            detail="This release gives groups rights on buckets and on mounted disks; a share's are its server's.",
            hint="take the name away, and set owner and mode of the export on the server",
        )
    elif writing and not storage.write:
        what = f"no host may write to {name}: its `write` is false"
        yield _wrong(at, what, "take `write: false` away from the storage, or name it in `read`")


def _boundary(spec: WrittenSpec) -> Iterator[Diagnostic]:
    cloud = spec.targets.cloud
    if cloud is None or not cloud.permissions_boundary:
        return
    owner = cloud.permissions_boundary.split(":")[4]
    if owner not in {cloud.account, "aws"}:
        what = f"the boundary is of the account {owner}, and the spec is for {cloud.account}"
        yield _wrong("targets.cloud.permissions_boundary", what, "name a policy of the spec's account, or one of AWS's")


def _wrong(at: str, summary: str, hint: str) -> Diagnostic:
    return Diagnostic(code="GP-SPEC-005", summary=summary, address=at, hint=hint)
