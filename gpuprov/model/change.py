"""Changes and plans: what `up` would do on a host, in order, why, and what it costs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpuprov.model.facet import Cost
from gpuprov.model.finding import Finding
from gpuprov.model.resource import ResourcePlan


class Action(StrEnum):
    """What a change does."""

    INSTALL = "install"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    REMOVE = "remove"
    TAKE_OVER = "take over"
    """Remove what somebody else installed: the stack takes its place."""
    HOLD = "hold"
    RELEASE = "release"
    """Take a hold away."""
    REPAIR = "repair"
    """Finish what an interrupted dpkg left behind."""
    WRITE = "write"
    DELETE = "delete"
    FORMAT = "format"
    """Give an empty disk a file system."""
    MOUNT = "mount"
    TAKE_BACK = "take back"
    """Take our keys out of a file that is not ours."""
    ADD = "add"
    """Make a user or a group."""
    JOIN = "join"
    """Put a user into a group."""
    LEAVE = "leave"
    """Take a user out of a group."""
    LOCK = "lock"
    """Close a user's account: it expires, and nothing of it is deleted."""
    UNLOCK = "unlock"
    SET = "set"
    """Set a kernel setting, or who may use a mount."""
    RESTORE = "restore"
    """Set a kernel setting, or who may use a mount, to what it was before gpuprov."""
    START = "start"
    ENABLE = "enable"
    RESTART = "restart"
    BOOT = "boot"
    """Have the next boot take a kernel."""
    LOAD = "load"
    """Load the kernel module, where none is loaded yet."""
    REBOOT = "reboot"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One change on one host."""

    address: str
    action: Action
    subject: str
    """Package, path or service."""
    before: str
    """Value before, as text for people; empty when there is none."""
    after: str
    reason: str
    cost: Cost
    diff: str = ""
    """Unified diff of a file, where its content is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rollback:
    """Whether a host could be brought back to the packages that a plan moves or removes; each as `name version`."""

    kept: tuple[str, ...] = ()
    """Their archives are on the host."""
    fetched: tuple[str, ...] = ()
    """A source of the host still has them: they are fetched before anything is changed."""
    lost: tuple[str, ...] = ()
    """No source has them: there is no way back to them."""
    unseen: tuple[str, ...] = ()
    """They are not on the host, and nobody has looked yet whether a source has them."""
    size: int = 0
    """Bytes of all archives that the host keeps now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Foreseen:
    """What apt itself said of the package transaction, simulated on the host."""

    others: tuple[str, ...] = ()
    """Moves of packages that gpuprov does not own, as `name from -> to`: they rise, or come as a dependency."""
    download: int = 0
    """Bytes that the host fetches."""
    growth: int = 0
    """Bytes by which the disk's use grows."""
    untold: str = ""
    """Why apt could not be asked; empty where it was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostPlan:
    """All changes of one host, in order; none means that the host is satisfied."""

    host: str
    pool: str
    changes: tuple[Change, ...]
    not_curable: tuple[Finding, ...] = ()
    """Findings that no change ends; they stay after `up`."""
    unknown: tuple[Finding, ...] = ()
    """What could not be observed."""
    guard: str = ""
    """Digest over the observations that the changes were computed from, and the boot id."""
    boot_id: str = ""
    reads: Mapping[str, str] = field(default_factory=dict)
    """Digest of each observation under the guard, by address: they tell what moved."""
    foreseen: Foreseen | None = None
    """None where no package moves, or nobody asked apt."""
    disturbs: tuple[str, ...] = ()
    """Who has a GPU open now and would be ended by the plan: containers, jobs, services, processes."""
    rollback: Rollback | None = None
    """None where no package that is there moves: there is nothing to go back to."""

    @property
    def satisfied(self) -> bool:
        """Whether nothing has to be done; what no change ends is in `not_curable` and `unknown`."""
        return not self.changes

    @property
    def reboot(self) -> bool:
        """Whether the host will be rebooted."""
        return any(change.action is Action.REBOOT for change in self.changes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The plan of a run: one HostPlan per host, and what it was computed from."""

    lock: str
    """Digest of the lock."""
    wants: Mapping[str, str]
    """Digest of each host's want."""
    hosts: tuple[HostPlan, ...]
    excluded: Mapping[str, str] = field(default_factory=dict)
    """Hosts that take no part, each with the reason."""
    resources: ResourcePlan = field(default_factory=ResourcePlan)
    """What would change in the cloud account; empty for the rack."""
    order: tuple[tuple[str, ...], ...] = ()
    """The hosts to change, round by round; empty where nobody asked for the order."""
    drains: Mapping[str, str] = field(default_factory=dict)
    """Hosts that work goes off first, each with how, in words."""
