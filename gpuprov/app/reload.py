"""Whether systemd's reload, which comes with packages and units, takes the GPUs from containers that run (case A19)."""

from typing import Final

from gpuprov.model.change import Action, HostPlan
from gpuprov.model.fact import Known
from gpuprov.model.snapshot import Snapshot
from gpuprov.plan.packages import MOVES

_UNITS: Final = "/etc/systemd/"


def cuts_off_containers(plan: HostPlan, snapshot: Snapshot) -> bool:
    """Whether a plan has systemd reload its units on a host whose containers lose their GPUs by that.

    They do where systemd itself holds their cgroups and /dev/char has no links to the devices: it then knows no device
    of theirs. Packages reload it in their own scripts, and enabling a unit does too.
    """
    by_systemd = snapshot.observe("stack.container.cgroup_driver") == Known("systemd")
    without_links = snapshot.observe("stack.container.device_links") == Known(value=False)
    return by_systemd and without_links and any(_reloads(change.action, change.subject) for change in plan.changes)


def _reloads(action: Action, subject: str) -> bool:
    if action in {Action.WRITE, Action.DELETE}:
        return subject.startswith(_UNITS)
    return action in MOVES or action in {Action.ENABLE, Action.REPAIR}
