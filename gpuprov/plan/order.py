"""The order in which the changes of a host are made and shown."""

from collections.abc import Iterable
from typing import Final

from gpuprov.model.change import Action, Change
from gpuprov.want.owned import PENDING

_APT: Final = "/etc/apt/"
_FILES: Final = frozenset({Action.WRITE, Action.DELETE})

# Keys and sources come before the packages that need them. Units start after the driver is in use, since those that
# need a GPU cannot start before; a unit that the reboot brings up needs no start any more.
_RANKS: Final = {
    Action.REPAIR: 0,
    Action.REMOVE: 2,
    Action.TAKE_OVER: 2,
    Action.DOWNGRADE: 2,
    Action.UPGRADE: 2,
    Action.INSTALL: 2,
    Action.HOLD: 3,
    Action.RELEASE: 3,
    Action.ADD: 3,
    Action.UNLOCK: 3,
    Action.JOIN: 4,
    Action.LEAVE: 4,
    Action.LOCK: 4,
    Action.SET: 4,
    Action.RESTORE: 4,
    Action.WRITE: 4,
    Action.DELETE: 4,
    Action.TAKE_BACK: 4,
    Action.FORMAT: 4,
    Action.MOUNT: 5,
    Action.BOOT: 5,
    Action.ENABLE: 5,
    Action.LOAD: 6,
    Action.REBOOT: 7,
    Action.START: 8,
    Action.RESTART: 9,
}


def _rank(change: Change) -> tuple[int, str, str]:
    if change.action in _FILES and change.subject.startswith(_APT):
        return 1, change.subject, change.address
    if change.address == PENDING:  # it follows from files, and ends what an earlier run began with them
        return 5, change.subject, change.address
    return _RANKS[change.action], change.subject, change.address


def order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Put changes in order: repair, apt's files, packages, holds, files, enable, load or reboot, start, restart."""
    return tuple(sorted(changes, key=_rank))
