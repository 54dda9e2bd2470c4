"""What is expected of accounts, settings and unattended upgrades, and of what gpuprov made of them before."""

from collections.abc import Iterator
from dataclasses import dataclass

from gpuprov.model.address import member_address
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Known, Value
from gpuprov.want.access import KEYS_PATTERN
from gpuprov.want.tuning import limit_rows
from gpuprov.want.types import AccessWant, Expectation, Owned, OwnedAccess, PoolWant, TuningWant
from gpuprov.want.updates import blacklist

SSH_KEYS = "host.ssh.keys"
BLACKLIST = "apt.unattended_blacklist"
GOVERNOR = "host.cpu.governor"
POWER_LIMIT = "gpu.power_limit"


@dataclass(frozen=True, slots=True)
class _Row:
    address: str
    value: Value
    comparator: str = "equal"
    cost: Cost = Cost.NOTHING


def settled_expectations(pool: PoolWant, owned: Owned, gone: str) -> Iterator[Expectation]:
    """Say what is expected on a host of accounts and settings.

    Args:
        pool: the host's pool.
        owned: what gpuprov made there before.
        gone: the reason of what nobody wants any more.
    """
    for reason, rows in (
        ("lock: owned packages", _updates(pool)),
        ("spec: access", _access(pool.access, owned.access)),
        (gone, _no_access(pool.access, owned.access)),
        ("spec: tuning", _tuning(pool.tuning)),
        (gone, _no_tuning(pool.tuning, owned)),
    ):
        for row in rows:
            yield Expectation(
                address=row.address, value=Known(row.value), comparator=row.comparator, cost=row.cost, reason=reason
            )


def _updates(pool: PoolWant) -> Iterator[_Row]:
    if pool.packages:
        yield _Row(BLACKLIST, [*blacklist(package.name for package in pool.packages)], "contains")


def _access(access: AccessWant, owned: OwnedAccess) -> Iterator[_Row]:
    for user in access.users:
        yield _Row(member_address("user", user.name, "state"), "active")
        if user.uid is not None:
            yield _Row(member_address("user", user.name, "uid"), user.uid)
    for group in access.groups:
        members: dict[str, Value] = {"has": [*group.members]}
        left = sorted(set(owned.members.get(group.name, ())) - set(group.members))
        yield _Row(
            member_address("group", group.name, "members"),
            {**members, "lacks": [*left]} if left else members,
            "members",
        )
        if group.gid is not None:
            yield _Row(member_address("group", group.name, "gid"), group.gid)
    if access.keys:
        yield _Row(SSH_KEYS, [KEYS_PATTERN], "contains")


def _no_access(access: AccessWant, owned: OwnedAccess) -> Iterator[_Row]:
    for name in sorted(set(owned.users) - {user.name for user in access.users}):
        yield _Row(member_address("user", name, "state"), "locked", "unset")
    for group in sorted(set(owned.members) - {group.name for group in access.groups}):
        if owned.members[group]:
            yield _Row(member_address("group", group, "members"), [*owned.members[group]], "excludes")
    if owned.ssh and not access.keys:
        yield _Row(SSH_KEYS, [KEYS_PATTERN], "excludes")


def _tuning(tuning: TuningWant) -> Iterator[_Row]:
    for key, value in tuning.settings.items():
        yield _Row(member_address("sysctl", key, "value"), value)
        yield _Row(member_address("sysctl", key, "configured"), value)
    for item, value in tuning.limits.items():
        for who, kind in limit_rows():
            yield _Row(member_address("limit", f"{who} {kind} {item}", "value"), value)
    if tuning.governor:
        yield _Row(GOVERNOR, tuning.governor)
    if tuning.power_limit is not None:
        yield _Row(POWER_LIMIT, tuning.power_limit)


def _no_tuning(tuning: TuningWant, owned: Owned) -> Iterator[_Row]:
    for key, before in sorted(owned.settings.items()):
        if key not in tuning.settings:
            yield _Row(member_address("sysctl", key, "value"), before)
