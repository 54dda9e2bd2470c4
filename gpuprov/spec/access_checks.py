"""Checks across `access` and `tuning`: one number for one name, and no setting that has two places."""

from collections.abc import Iterator

from gpuprov.model.address import join
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.access import AccessSpec
from gpuprov.spec.tuning import TuningSpec

HUGEPAGES = "vm.nr_hugepages"
"""The setting that `tuning.hugepages` stands for."""


def access_problems(access: AccessSpec) -> Iterator[Diagnostic]:
    """What is wrong with members and numbers across groups."""
    uids: dict[str, int] = {}
    owners: dict[int, str] = {}
    gids: dict[int, str] = {}
    for name, group in access.groups.items():
        at = join("access.groups", name)
        if group.gid is not None and gids.setdefault(group.gid, name) != name:
            yield _refuse(f"the number {group.gid} is the group {gids[group.gid]}'s already", f"{at}.gid")
        if group.sudo.all and group.sudo.commands:
            yield _refuse("everything holds all commands already", f"{at}.sudo.commands")
        seen: set[str] = set()
        for index, member in enumerate(group.members):
            place = f"{at}.members[{index}]"
            if member.name in seen:
                yield _refuse(f"{member.name} is a member of {name} already", f"{place}.name")
            seen.add(member.name)
            if member.uid is None:
                continue
            if uids.setdefault(member.name, member.uid) != member.uid:
                yield _refuse(f"{member.name} has the number {uids[member.name]} already", f"{place}.uid")
            elif owners.setdefault(member.uid, member.name) != member.name:
                yield _refuse(f"the number {member.uid} is {owners[member.uid]}'s already", f"{place}.uid")


def tuning_problems(tuning: TuningSpec) -> Iterator[Diagnostic]:
    """What is wrong with settings that have two places."""
    if tuning.hugepages is not None and HUGEPAGES in tuning.sysctl:
        yield _refuse(f"hugepages sets {HUGEPAGES} already", join("tuning.sysctl", HUGEPAGES))


def _refuse(summary: str, address: str) -> Diagnostic:
    return Diagnostic(code="GP-SPEC-005", summary=summary, address=address, hint="take one of the two away")
