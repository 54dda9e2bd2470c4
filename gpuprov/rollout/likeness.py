"""What must be after a change as it was before, whatever the spec says: the GPUs, and what containers get of them."""

from collections.abc import Collection, Iterator
from typing import Final

from gpuprov.model.fact import Known
from gpuprov.model.snapshot import Snapshot

_SAME: Final = ("gpu.count", "gpu.models")
_CDI: Final = "stack.cdi.state"
_STALE: Final = Known("stale")


def lost(before: Snapshot, after: Snapshot, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """What a host had before a change and has no longer: address and sentence.

    A host on which a GPU was missing already keeps its finding, and must not lose another one.

    Args:
        before: what was seen when the plan was made.
        after: what is seen now.
        names: those that drivers give the wanted model: another driver may call the same GPU by another one.
    """
    for address in _SAME:
        was, seen = before.observe(address), after.observe(address)
        if isinstance(was, Known) and was.value and seen != was and not _better(was.value, seen, names):
            now = seen.value if isinstance(seen, Known) else "not known"
            yield address, f"{address}: {was.value} before the change, {now} after it"
    if after.observe(_CDI) == _STALE and before.observe(_CDI) != _STALE:
        missing = after.observe("stack.cdi.missing")
        files = missing.value if isinstance(missing, Known) and isinstance(missing.value, list) else []
        lacks = f"; not there: {', '.join(map(str, files))}" if files else ""
        yield _CDI, f"{_CDI}: the description of the GPUs for containers no longer fits the driver{lacks}"


def _better(was: object, seen: object, names: Collection[str]) -> bool:
    """Whether a host came back with more GPUs than it had, or with the wanted ones under another name."""
    if not isinstance(seen, Known):
        return False
    now = seen.value
    if isinstance(was, int) and isinstance(now, int):
        return now > was
    return isinstance(now, list) and bool(now) and all(name in names for name in now)
