"""What groups of people may do with a disk that is mounted: lists of access control on its topmost folder."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gpuprov.model.address import member_address
from gpuprov.model.fact import Value
from gpuprov.spec.access import AccessSpec

if TYPE_CHECKING:
    from gpuprov.want.mounts import MountWant

FAMILY: Final = "rights"
READ, WRITE = "r-x", "rwx"


def storage_rights(access: AccessSpec) -> dict[str, tuple[str, ...]]:
    """Storage -> entries such as `group ml rwx`, for those that a group of the spec names.

    Once one does, nobody else may use the mount, root apart. Each entry holds for what is made there later as well, and
    for nothing that is there already.
    """
    named: dict[str, list[str]] = {}
    for name, group in access.groups.items():
        for storage in group.read:
            named.setdefault(storage, []).append(f"group {name} {READ}")
        for storage in group.write:
            named.setdefault(storage, []).append(f"group {name} {WRITE}")
    return {storage: tuple(sorted(entries)) for storage, entries in named.items()}


def rights_facts(
    mounts: Sequence["MountWant"], given: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, Value, str, str]]:
    """Address, value, comparator and origin of what is expected.

    Args:
        mounts: the host's.
        given: place -> entries that gpuprov gave there before.
    """
    for mount in mounts:
        address = member_address(FAMILY, mount.place, "entries")
        if mount.rights:
            yield address, [*_whole(mount.rights)], "set", "spec: access.groups"
        elif mount.place in given:
            yield address, [*_whole(given[mount.place])], "excludes", "no longer in the spec"


def _whole(entries: Sequence[str]) -> Iterator[str]:
    yield from entries
    yield from (f"default {entry}" for entry in entries)
