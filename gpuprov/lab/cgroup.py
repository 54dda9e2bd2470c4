"""Control groups: each node has its own in every hierarchy, and killing the lab's group ends the lab's processes."""

import os
import time
from functools import cache
from pathlib import Path

from gpuprov.lab.command import failure

_KILL_SECONDS = 10.0


@cache
def hierarchies() -> tuple[Path, ...]:
    """Return the mount point of every cgroup hierarchy of the machine, the unified one first.

    Raises:
        GpuprovError: there is no unified hierarchy (cgroup v2), without which nothing can be killed as one.
    """
    unified: list[Path] = []
    legacy: list[Path] = []
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        kind = after.split(" ", 1)[0]
        place = Path(before.split(" ")[4])
        if kind == "cgroup2":
            unified.append(place)
        elif kind == "cgroup":
            legacy.append(place)
    if not unified:
        raise failure(
            "this machine has no unified cgroup hierarchy", hint="the lab needs cgroup v2 (Linux 5.14 or newer)"
        )
    return (unified[0], *legacy)


def create(name: str) -> None:
    """Create a group in every hierarchy, with its parents; one that exists stays as it is."""
    for hierarchy in hierarchies():
        place = hierarchy
        for part in Path(name).parts:
            place /= part
            place.mkdir(exist_ok=True)
            _inherit_cpuset(place)


def join(name: str) -> None:
    """Put the calling process into a group in every hierarchy.

    Raises:
        OSError: the group is gone, for example because the lab is being removed.
    """
    for hierarchy in hierarchies():
        (hierarchy / name / "cgroup.procs").write_text("0", encoding="ascii")


def processes(name: str) -> tuple[int, ...]:
    """Return the ids of all processes in a group and below it, in any hierarchy."""
    found: set[int] = set()
    for hierarchy in hierarchies():
        for folder, _, files in os.walk(hierarchy / name):
            if "cgroup.procs" in files:
                found.update(_read_processes(Path(folder)))
    return tuple(sorted(found - {0}))


def members(name: str) -> tuple[int, ...]:
    """Return the ids of the processes in just this group, as the unified hierarchy shows them; none when it is gone."""
    return tuple(sorted(_read_processes(hierarchies()[0] / name) - {0}))


def kill(name: str) -> None:
    """End every process in a group and below it at once, as a power cut would; wait until they are gone.

    Raises:
        GpuprovError: something is still there after ten seconds.
    """
    place = hierarchies()[0] / name / "cgroup.kill"
    deadline = time.monotonic() + _KILL_SECONDS
    while True:
        if place.exists():
            place.write_text("1", encoding="ascii")
        left = processes(name)
        if not left:
            return
        if time.monotonic() > deadline:
            raise failure(f"processes of {name} cannot be ended", detail=f"process ids: {left}")
        time.sleep(0.02)


def remove(name: str) -> None:
    """End what is in a group and remove it, with everything below it, from every hierarchy.

    Raises:
        GpuprovError: something cannot be ended or removed.
    """
    deadline = time.monotonic() + _KILL_SECONDS
    while True:
        kill(name)
        stuck = [error for hierarchy in hierarchies() for error in _remove_tree(hierarchy / name)]
        if not stuck:
            return
        if time.monotonic() > deadline:
            raise failure(f"the cgroup {name} cannot be removed", detail="\n".join(map(str, stuck)))
        time.sleep(0.02)


def existing(prefix: str) -> tuple[str, ...]:
    """Return the names of top level groups that begin with this text."""
    return tuple(sorted({place.name for hierarchy in hierarchies() for place in hierarchy.glob(f"{prefix}*")}))


def _remove_tree(top: Path) -> list[OSError]:
    """Remove a group of one hierarchy, the deepest first; return what did not work.

    The kernel needs a moment after a group's last process has gone, and a process that was just being started may join.
    """
    stuck: list[OSError] = []
    for folder, _, _ in os.walk(top, topdown=False):
        try:
            Path(folder).rmdir()
        except FileNotFoundError:
            continue
        except OSError as error:
            stuck.append(error)
    return stuck


def _inherit_cpuset(place: Path) -> None:
    """Give a new cpuset group (cgroup v1) its parent's processors and memory; without them it takes no process."""
    for name in ("cpuset.cpus", "cpuset.mems"):
        own = place / name
        if own.exists() and (place.parent / "cgroup.clone_children").exists() and not own.read_text().strip():
            own.write_text((place.parent / name).read_text(encoding="ascii"), encoding="ascii")


def _read_processes(folder: Path) -> set[int]:
    """Read the process ids of one group; a group that has gone has none."""
    try:
        return {int(line) for line in (folder / "cgroup.procs").read_text(encoding="ascii").split()}
    except OSError:
        return set()
