"""What gpuprov made on a host, as its own record there says."""

from collections.abc import Mapping
from dataclasses import replace

from gpuprov.model.fact import Absent, Known, Unknown, Value
from gpuprov.model.snapshot import Snapshot
from gpuprov.want.merged import is_object
from gpuprov.want.types import MergedKeys, Owned, OwnedAccess

ADDRESS = "gpuprov.owned"
"""The fact that holds the record."""
PENDING = "gpuprov.pending"
"""The fact that names the steps that a lost run left undone."""
ARCHIVES = "gpuprov.archives"
"""The fact that names the package archives that are kept for a rollback."""


def owned_of(snapshot: Snapshot) -> Owned | Unknown:
    """Read the record from a snapshot.

    Returns:
        An empty Owned where there is none; Unknown(reason) where the record could not be read or understood: then
        nothing can be said about removals, and "nothing to remove" would be a guess.
    """
    match snapshot.observe(ADDRESS):
        case Absent():
            return Owned()
        case Unknown() as unknown:
            return unknown
        case Known(value):
            pending = snapshot.observe(PENDING)
            found = _decode(value, pending.value if isinstance(pending, Known) else [])
            return replace(found, archived=_archived(snapshot)) if isinstance(found, Owned) else found


def _archived(snapshot: Snapshot) -> int:
    kept = snapshot.observe(ARCHIVES)
    size = kept.value.get("bytes", 0) if isinstance(kept, Known) and isinstance(kept.value, dict) else 0
    return size if isinstance(size, int) else 0


def _decode(value: Value, pending: Value) -> Owned | Unknown:
    if not isinstance(value, Mapping):
        return Unknown("the record of what gpuprov made on the host is no mapping")
    packages, files = _texts(value.get("packages", {})), _texts(value.get("files", {}))
    sources, want, brought = value.get("sources", []), value.get("want", ""), value.get("brought")
    kept, merged = value.get("kept", []), _merged(value.get("merged", {}))
    lists = isinstance(sources, list) and isinstance(kept, list) and (brought is None or isinstance(brought, list))
    access, settings = _access(value.get("access", {})), _texts(value.get("tuning", {}))
    rights = _rights(value.get("rights", {}))
    if access is None or settings is None or merged is None or rights is None:
        return Unknown("the record of what gpuprov made on the host has an unknown form")
    if packages is None or files is None or not lists or not isinstance(want, str):
        return Unknown("the record of what gpuprov made on the host has an unknown form")
    return Owned(
        packages=packages,
        files=files,
        sources=_names(sources) or (),
        want=want,
        brought=_names(brought),
        kept=_names(kept) or (),
        merged=merged,
        pending=_names(pending) or (),
        frameworks=str(value.get("frameworks", "")),
        containerd=value.get("containerd") is True,
        access=access,
        settings=settings,
        rights=rights,
    )


def _access(value: Value) -> OwnedAccess | None:
    if not isinstance(value, Mapping):
        return None
    users, members, ssh = value.get("users", []), value.get("members", {}), value.get("ssh", False)
    if not isinstance(users, list) or not isinstance(members, Mapping) or not isinstance(ssh, bool):
        return None
    groups = {group: names for group, row in members.items() if (names := _names(row)) is not None}
    return OwnedAccess(users=_names(users) or (), members=groups, ssh=ssh) if len(groups) == len(members) else None


def _rights(value: Value) -> dict[str, tuple[str, ...]] | None:
    rows = value if isinstance(value, Mapping) else {"": None}
    found = {place: names for place, row in rows.items() if (names := _names(row)) is not None}
    return found if len(found) == len(rows) else None


def _merged(value: Value) -> dict[str, MergedKeys] | None:
    rows = value if isinstance(value, Mapping) else {"": None}
    found = {}
    for path, row in rows.items():
        texts = (row.get("ours"), row.get("before")) if isinstance(row, Mapping) else ()
        match texts:
            case (str() as ours, str() as before) if is_object(ours) and is_object(before):
                found[path] = MergedKeys(ours=ours, before=before)
            case _:
                return None
    return found


def _names(value: Value | None) -> tuple[str, ...] | None:
    return tuple(str(name) for name in value) if isinstance(value, list) else None


def _texts(value: Value) -> dict[str, str] | None:
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for text in value.values()):
        return None
    return {key: str(text) for key, text in value.items()}
