"""A driver that NVIDIA's own installer (a .run file) put on a host: its uninstaller takes it away before packages."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gpuprov.model.change import Action, Change, HostPlan, Rollback
from gpuprov.model.facet import Cost
from gpuprov.model.snapshot import Snapshot
from gpuprov.plan.guard import guard_digest, read_observations
from gpuprov.plan.order import order

INSTALLER: Final = "stack.driver.installer"


def runfile_of(snapshot: Snapshot) -> Mapping[str, str]:
    """`program`, `version` and `files` of such a driver; empty where there is none, or nobody could look."""
    seen = snapshot.known(INSTALLER)
    return {str(key): str(text) for key, text in seen.items()} if isinstance(seen, dict) else {}


def uninstaller_of(plan: HostPlan) -> str:
    """The program that takes such a driver away in a plan; empty where none does."""
    return next((change.subject for change in plan.changes if change.address == INSTALLER), "")


def with_uninstall(plan: HostPlan, snapshot: Snapshot) -> HostPlan:
    """A plan in which the uninstaller takes the driver away before packages come; there is no way back from that."""
    found = runfile_of(snapshot)
    driver = f"the driver {found['version']}".rstrip()
    change = Change(
        address=INSTALLER,
        action=Action.TAKE_OVER,
        subject=found["program"],
        before=f"{driver}, {found['files']} files",
        after="",
        reason="NVIDIA's own installer (a .run file) put it there; its uninstaller takes it away (--take-over)",
        cost=Cost.REBOOT if plan.reboot else Cost.NOTHING,
    )
    reads = {**plan.reads, **read_observations([INSTALLER], snapshot)}
    old = plan.rollback or Rollback()
    return replace(
        plan,
        changes=order((*plan.changes, change)),
        reads=reads,
        guard=guard_digest(reads, plan.boot_id),
        rollback=replace(old, lost=(*old.lost, f"{driver} of a .run file")),
    )
