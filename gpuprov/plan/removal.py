"""What converge has to be told of a plan, because no want holds it: what goes, and which units start anew."""

import re
from dataclasses import dataclass
from typing import Final

from gpuprov.model.change import Action, HostPlan
from gpuprov.plan.kept import KEPT
from gpuprov.plan.runfile import INSTALLER, uninstaller_of
from gpuprov.want.containerd import CONFIG_PATH
from gpuprov.want.frameworks import FOLDER
from gpuprov.want.owned import PENDING

_SOURCE: Final = re.compile(r"/etc/apt/(?:sources\.list\.d|keyrings)/gpuprov-(?P<name>.+)\.(?:sources|asc)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Removal:
    """What a host's plan takes away or restarts; only what gpuprov made there."""

    packages: tuple[str, ...] = ()
    """Names to remove, whatever version is installed."""
    take_over: tuple[str, ...] = ()
    """Those of the packages that somebody else installed; without it they would only lose their hold."""
    uninstall: str = ""
    """The program that takes away a driver from a .run file; empty where there is none, or it stays."""
    files: tuple[str, ...] = ()
    """Paths to delete."""
    sources: tuple[str, ...] = ()
    """Names of apt sources to delete, with their keys."""
    release: tuple[str, ...] = ()
    """Packages that stay and lose their hold."""
    restart: tuple[str, ...] = ()
    """Units, without `.service`, that start anew whatever else changes."""
    take_back: tuple[str, ...] = ()
    """Paths of files that are not ours and lose our keys."""
    pending: tuple[str, ...] = ()
    """Steps that a lost run left undone: `initramfs`."""
    frameworks: bool = False
    """Whether the Python environments go."""
    containerd: bool = False
    """Whether containerd loses our runtime."""
    lock: tuple[str, ...] = ()
    """Users whose accounts are closed."""
    leave: tuple[tuple[str, str], ...] = ()
    """Group and user that leaves it."""
    rights: tuple[str, ...] = ()
    """Places of mounts that anybody may use again as before gpuprov."""
    restore: tuple[str, ...] = ()
    """Kernel settings that become again what they were before gpuprov."""


def removals(plan: HostPlan) -> Removal:
    """Say what a host's plan takes away or restarts; packages by bare name, whatever version is there (case A55)."""
    gone = {change.subject for change in plan.changes if change.action is Action.DELETE}
    deleted = sorted(gone - {FOLDER, KEPT})
    sources = {path: found["name"] for path in deleted if (found := _SOURCE.fullmatch(path)) is not None}
    taken = tuple(sorted({c.subject for c in plan.changes if c.action is Action.TAKE_OVER and c.address != INSTALLER}))
    return Removal(
        packages=tuple(sorted((*_subjects(plan, Action.REMOVE), *taken))),
        files=tuple(path for path in deleted if path not in sources),
        sources=tuple(sorted(set(sources.values()))),
        release=_subjects(plan, Action.RELEASE),
        restart=_subjects(plan, Action.RESTART),
        take_over=taken,
        uninstall=uninstaller_of(plan),
        take_back=tuple(path for path in _subjects(plan, Action.TAKE_BACK) if path != CONFIG_PATH),
        containerd=CONFIG_PATH in _subjects(plan, Action.TAKE_BACK),
        frameworks=FOLDER in gone,
        pending=tuple(sorted(change.subject for change in plan.changes if change.address == PENDING)),
        lock=_subjects(plan, Action.LOCK),
        leave=tuple((c.before.removeprefix("in "), c.subject) for c in plan.changes if c.action is Action.LEAVE),
        restore=tuple(name for name in _subjects(plan, Action.RESTORE) if not name.startswith("/")),
        rights=tuple(name for name in _subjects(plan, Action.RESTORE) if name.startswith("/")),
    )


def _subjects(plan: HostPlan, action: Action) -> tuple[str, ...]:
    return tuple(sorted({change.subject for change in plan.changes if change.action is action}))
