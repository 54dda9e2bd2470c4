"""The guard: whether a host is still as it was when its plan was made."""

from collections.abc import Iterable, Mapping

from gpuprov.document.canonical import digest
from gpuprov.model.change import HostPlan
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import Snapshot

BOOT = "host.boot_id"
_SHORT = 16


def read_observations(addresses: Iterable[str], snapshot: Snapshot) -> dict[str, str]:
    """Give a short digest of the observation at each address."""
    return {address: _short(snapshot.observe(address)) for address in sorted(set(addresses))}


def guard_digest(reads: Mapping[str, str], boot_id: str) -> str:
    """Give the digest over all observations that a plan was computed from, and the boot id."""
    return digest({"boot": boot_id, "reads": dict(reads)})


def boot_id(snapshot: Snapshot) -> str:
    """The boot id of a snapshot as text; empty when it is not known."""
    seen = snapshot.observe(BOOT)
    return str(seen.value) if isinstance(seen, Known) else ""


def moved(plan: HostPlan, snapshot: Snapshot) -> tuple[str, ...]:
    """Say at which addresses a host is not as it was when its plan was made; empty when the plan still holds.

    Only what the changes were computed from counts, and the boot id: a host that rebooted in between is another host.
    """
    now = read_observations(plan.reads, snapshot)
    changed = [address for address, seen in plan.reads.items() if now[address] != seen]
    if boot_id(snapshot) != plan.boot_id:
        changed.append(BOOT)
    return tuple(changed)


def _short(observation: Observation) -> str:
    match observation:
        case Known(value):
            plain: object = {"known": value}
        case Absent():
            plain = "absent"
        case Unknown():  # the reason may hold a time or a process id
            plain = "unknown"
    return digest(plain).removeprefix("sha256:")[:_SHORT]
