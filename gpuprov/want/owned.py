"""What gpuprov made on a host, as its own record there says."""

from collections.abc import Mapping

from gpuprov.model.fact import Absent, Known, Unknown, Value
from gpuprov.model.snapshot import Snapshot
from gpuprov.want.types import Owned

ADDRESS = "gpuprov.owned"
"""The fact that holds the record."""


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
            return _decode(value)


def _decode(value: Value) -> Owned | Unknown:
    if not isinstance(value, Mapping):
        return Unknown("the record of what gpuprov made on the host is no mapping")
    packages, files = _texts(value.get("packages", {})), _texts(value.get("files", {}))
    sources, want, brought = value.get("sources", []), value.get("want", ""), value.get("brought")
    kept = value.get("kept", [])
    lists = isinstance(sources, list) and isinstance(kept, list) and (brought is None or isinstance(brought, list))
    if packages is None or files is None or not lists or not isinstance(want, str):
        return Unknown("the record of what gpuprov made on the host has an unknown form")
    return Owned(
        packages=packages,
        files=files,
        sources=_names(sources) or (),
        want=want,
        brought=_names(brought),
        kept=_names(kept) or (),
    )


def _names(value: Value | None) -> tuple[str, ...] | None:
    return tuple(str(name) for name in value) if isinstance(value, list) else None


def _texts(value: Value) -> dict[str, str] | None:
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for text in value.values()):
        return None
    return {key: str(text) for key, text in value.items()}
