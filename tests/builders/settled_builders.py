"""Accounts and settings for tests: a spec's, those of a host before gpuprov, and what changes of them do."""

from typing import Any

from gpuprov.model.address import member_address, split_address
from gpuprov.model.change import Action, Change
from gpuprov.model.fact import Absent, Known, Observation
from gpuprov.spec.access import AccessSpec, GroupSpec, MemberSpec, SudoSpec
from gpuprov.spec.tuning import TuningSpec
from gpuprov.want.access import KEYS_PATTERN, SSHD_PATH
from gpuprov.want.settled import BLACKLIST, GOVERNOR, POWER_LIMIT, SSH_KEYS
from gpuprov.want.tuning import LIMITS_PATH, SYSCTL_PATH, UNIT, limit_rows
from gpuprov.want.types import Expectation, PoolWant
from gpuprov.want.updates import UPDATES_PATH, blacklist

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEJ5sDNEYFH/sMg4bvGOLgC0dsmB+WVgoQpFYgSY8YB+ ana"
ACCESS = AccessSpec(
    groups={
        "ml": GroupSpec(
            gid=2000,
            members=(MemberSpec(name="ana", uid=2001, keys=(KEY,)), MemberSpec(name="bob")),
            sudo=SudoSpec(commands=("/usr/bin/nvidia-smi",)),
        )
    }
)
TUNING = TuningSpec(
    sysctl={"vm.swappiness": "10"},
    limits={"memlock": "unlimited"},
    hugepages=16,
    governor="performance",
    power_limit=500,
    clocks=1980,
)
FAMILIES = ("user", "group", "limit", "sysctl")

Seen = dict[str, Observation]


def untouched(pool: PoolWant) -> dict[str, Any]:
    """What a host shows of settings before gpuprov came."""
    facts: dict[str, Any] = {BLACKLIST: [], SSH_KEYS: [".ssh/authorized_keys"], GOVERNOR: "powersave"}
    if pool.gpu is not None:
        facts[POWER_LIMIT] = None  # no driver tells it
    for key in pool.tuning.settings:
        facts |= {member_address("sysctl", key, "value"): "60", member_address("sysctl", key, "configured"): None}
    return facts


def value_seen(expectation: Expectation) -> Any:
    """The value of a host that meets an expectation."""
    value = expectation.value.value if isinstance(expectation.value, Known) else None
    return value["has"] if isinstance(value, dict) and "has" in value else value


def settle(change: Change, seen: Seen, pool: PoolWant) -> None:
    """What a change of an account or a setting does."""
    name, parts = change.subject, split_address(change.address)
    match change.action:
        case Action.ADD if parts is not None and parts[0] == "user":
            uid = next((user.uid for user in pool.access.users if user.name == name), None)
            seen |= {change.address: Known("active"), member_address("user", name, "uid"): Known(uid or 1001)}
        case Action.ADD:
            gid = next((group.gid for group in pool.access.groups if group.name == name), None)
            seen |= {change.address: Known([]), member_address("group", name, "gid"): Known(gid or 1001)}
        case Action.LOCK | Action.UNLOCK:
            seen[change.address] = Known("locked" if change.action is Action.LOCK else "active")
        case Action.JOIN | Action.LEAVE:
            before = _members(seen.get(change.address))
            after = {*before, name} if change.action is Action.JOIN else {*before} - {name}
            seen[change.address] = Known([*sorted(after)])
        case Action.SET | Action.RESTORE:
            seen[change.address] = Known(change.after)
        case _:
            raise AssertionError(change)


def _members(observed: Observation | None) -> list[str]:
    return (
        [str(name) for name in observed.value]
        if isinstance(observed, Known) and isinstance(observed.value, list)
        else []
    )


def ssh_changes(change: Change, seen: Seen) -> bool:
    """Whether a change is that of sshd's own place for keys; it is then carried out."""
    if change.subject != SSHD_PATH:
        return False
    seen[SSH_KEYS] = Known([*change.after.split()])
    return True


def written(path: str, seen: Seen, pool: PoolWant) -> None:
    """What follows from a file of ours."""
    if path == UPDATES_PATH:
        seen[BLACKLIST] = Known([*blacklist(package.name for package in pool.packages)])
    if path == SYSCTL_PATH:
        seen |= {member_address("sysctl", k, "configured"): Known(v) for k, v in pool.tuning.settings.items()}
    if path == LIMITS_PATH:
        rows = [(f"{who} {kind} {item}", v) for item, v in pool.tuning.limits.items() for who, kind in limit_rows()]
        seen |= {member_address("limit", row, "value"): Known(value) for row, value in rows}


def started(unit: str, seen: Seen, pool: PoolWant) -> None:
    """What the unit sets when it starts."""
    if unit == UNIT:
        if pool.tuning.governor and not isinstance(seen.get(GOVERNOR, Absent()), Absent):
            seen[GOVERNOR] = Known(pool.tuning.governor)
        if pool.tuning.power_limit is not None:
            seen[POWER_LIMIT] = Known(pool.tuning.power_limit)


__all__ = ["ACCESS", "FAMILIES", "KEY", "KEYS_PATTERN", "TUNING"]
