"""Finds and removes what carries a lab's id: by looking at the machine, never only at the lab's record."""

import json
import re
import shutil
from pathlib import Path

from gpuprov.lab import cgroup
from gpuprov.lab.command import failure, run
from gpuprov.lab.names import ID_PATTERN, NETNS_FOLDER, ROOT, LabNames
from gpuprov.lab.settings import restore_settings
from gpuprov.lab.state import Leftovers
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.progress import Progress, Report

_NSPAWN_FOLDERS = (Path("/run/systemd/nspawn/propagate"), Path("/run/systemd/nspawn/unix-export"))
"""Where systemd-nspawn keeps a folder per machine, which stays behind after a power cut."""

_ROUNDS = 3


def find(lab_id: str) -> Leftovers:
    """Find everything on the machine that carries the lab's id."""
    names = LabNames(lab_id)
    return Leftovers(
        id=lab_id,
        namespaces=tuple(sorted(place.name for place in NETNS_FOLDER.glob(f"{names.prefix}*"))),
        links=tuple(sorted(link for link in _links() if link.startswith(names.prefix))),
        mounts=tuple(place for place in mounts() if Path(place).is_relative_to(names.folder)),
        loops=_loops(names),
        cgroups=tuple(name for name in cgroup.existing(names.cgroup) if name == names.cgroup),
        tables=tuple(table for table in _tables() if table == names.table),
        processes=cgroup.processes(names.cgroup),
        folders=tuple(str(place) for place in (names.folder, *_nspawn_folders(names)) if place.exists()),
    )


def find_all() -> tuple[str, ...]:
    """Return the ids of all labs of which anything is on the machine."""
    words = [place.name for place in NETNS_FOLDER.glob("gpl-*")]
    words += [*_links(), *cgroup.existing("gpl-"), *(table.replace("_", "-") for table in _tables())]
    found = {match[1] for word in words if (match := re.match(r"gpl-([a-z0-9]{1,6})(?:-|$)", word))}
    if ROOT.exists():
        found |= {place.name for place in ROOT.iterdir() if place.is_dir() and ID_PATTERN.fullmatch(place.name)}
    return tuple(sorted(found))


def remove(lab_id: str, report: Report) -> Leftovers:
    """Remove everything that carries the lab's id, processes first, and say what was found.

    It looks again when it has finished: a program that a killed `up` had started may have made one thing more.

    Raises:
        GpuprovError: something resists, or comes again.
    """
    first = find(lab_id)
    found = first
    for _ in range(_ROUNDS):
        _remove_found(found, report)
        found = find(lab_id)
        if found.empty:
            return first
    raise failure(f"the lab {lab_id} is not gone", detail=str(found), hint="look for a process that makes it again")


def _remove_found(found: Leftovers, report: Report) -> None:
    """Remove what was found; each step may have been done already."""
    names = LabNames(found.id)
    _tell(report, found.id, f"ending {len(found.processes)} processes")
    cgroup.remove(names.cgroup)
    _tell(report, found.id, f"unmounting {len(found.mounts)} disks")
    for place in reversed(found.mounts):
        unmount(Path(place))
    for device in found.loops:
        run(["losetup", "--detach", device])
    for table in found.tables:
        run(["nft", "delete", "table", "inet", table])
    _tell(report, found.id, f"removing {len(found.namespaces)} network namespaces")
    for namespace in found.namespaces:
        run(["ip", "netns", "delete", namespace])
    # A link goes with the namespace of its other end; the kernel does that a moment later.
    for link in set(found.links) & set(_links()):
        _delete_link(link)
    restore_settings(found.id)
    for folder in found.folders:
        shutil.rmtree(folder)


def unmount(place: Path) -> None:
    """Unmount a disk, with what systemd-nspawn keeps of it; one that is not mounted is left as it is.

    Raises:
        GpuprovError: it is busy.
    """
    if str(place) not in mounts():
        return
    lock = _lock_of(place)
    run(["umount", str(place)])
    lock.unlink(missing_ok=True)


def remove_machine_folders(machine: str) -> None:
    """Remove what systemd-nspawn keeps for one machine after a power cut."""
    for folder in _NSPAWN_FOLDERS:
        shutil.rmtree(folder / machine, ignore_errors=True)


def mounts() -> tuple[str, ...]:
    """Return all mount points of the machine in the order in which they were mounted."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return tuple(line.split(" ")[4].encode().decode("unicode_escape") for line in lines)


def _delete_link(link: str) -> None:
    """Delete a link, which may be going by itself at this moment."""
    try:
        run(["ip", "link", "delete", link])
    except GpuprovError:
        if link in _links():
            raise


def _lock_of(root: Path) -> Path:
    """Return systemd-nspawn's lock file of a disk, named by device and inode; it stays after a power cut."""
    here = root.stat()
    return Path(f"/run/systemd/nspawn/locks/inode-{here.st_dev}:{here.st_ino}")


def _links() -> tuple[str, ...]:
    """Return the names of the machine's network links."""
    return tuple(place.name for place in Path("/sys/class/net").iterdir())


def _loops(names: LabNames) -> tuple[str, ...]:
    """Return the loop devices on files in the lab's folder, also on files that were deleted since."""
    listed = run(["losetup", "--list", "--json", "--output", "NAME,BACK-FILE"])
    devices = json.loads(listed)["loopdevices"] if listed.strip() else []
    return tuple(sorted(d["name"] for d in devices if Path(d["back-file"] or "").is_relative_to(names.folder)))


def _tables() -> tuple[str, ...]:
    """Return the names of the machine's nftables tables of family inet that labs may have made."""
    listed = json.loads(run(["nft", "--json", "list", "tables"]))["nftables"]
    tables = [item["table"] for item in listed if "table" in item]
    return tuple(sorted(t["name"] for t in tables if t["family"] == "inet" and t["name"].startswith("gpl_")))


def _nspawn_folders(names: LabNames) -> tuple[Path, ...]:
    """Return what systemd-nspawn keeps for the lab's machines."""
    return tuple(sorted(place for folder in _NSPAWN_FOLDERS for place in folder.glob(f"{names.prefix}*")))


def _tell(report: Report, lab_id: str, text: str) -> None:
    """Report one step of the removal."""
    report(Progress(phase="lab down", subject=lab_id, text=text))
