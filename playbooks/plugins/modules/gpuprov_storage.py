#!/usr/bin/python
"""Bring storage into use: an empty disk gets its file system, disks and shares are mounted; data is never touched."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpuprov_storage
short_description: Bring disks and shares into use
description:
  - Every disk is looked at before any is changed. One that holds anything but the wanted file system, or that is
    mounted elsewhere, ends the step with its name, and so does a place that holds files.
  - mkfs runs only on a device in which nothing is found, neither a signature nor a partition nor a byte that is not
    zero in its first MiB, and that nobody has open for himself.
  - A share of a server is mounted only; nothing is ever written to it. What a unit of ours mounted there from elsewhere
    before is unmounted first, which a program that uses it prevents.
options:
  mounts:
    description: >-
      Disks and shares, each with device, place, filesystem, unit, whether it is a share, and the rights of groups on
      its topmost folder - null leaves them, an empty list takes back what gpuprov gave.
    type: list
    elements: dict
    default: []
  record:
    description: The record of what gpuprov made on the host; without it no unit counts as ours.
    type: str
    default: ''
author: [gpuprov]
"""

RETURN = r"""
notes: {description: Sentences about what was done, type: list, returned: success}
"""

import errno  # noqa: E402
import grp  # noqa: E402
import os  # noqa: E402
import stat  # noqa: E402
import struct  # noqa: E402
from pathlib import Path  # noqa: E402

from ansible.module_utils import gpuprov_record as record  # noqa: E402
from ansible.module_utils.basic import AnsibleModule  # noqa: E402

PLAIN = {"LC_ALL": "C.UTF-8", "LANGUAGE": "", "SYSTEMD_COLORS": "0"}
NOTHING_FOUND = 2
"""Status of blkid where it finds no signature (blkid(8))."""
FIRST = 1 << 20
KINDS = ("system.posix_acl_access", "system.posix_acl_default")
NOBODY = 0xFFFFFFFF
"""Number of an entry that is about nobody by name (Linux, include/uapi/linux/posix_acl_xattr.h)."""
BITS = {"r": 4, "w": 2, "x": 1}


class Failed(Exception):  # noqa: N818 - a reason, not an error of this program
    """Raised when a disk cannot be brought into use; what it holds is as it was."""

    def __init__(self, path: str, text: str, detail: str = "") -> None:
        super().__init__(text)
        self.path, self.text, self.detail = path, text, detail


def mounts_of(table: str) -> list[tuple[str, str]]:
    """Device and place of each line of /proc/self/mounts."""
    rows = [line.split() for line in table.splitlines()]
    return [(row[0], row[1].encode().decode("unicode_escape")) for row in rows if len(row) > 1]


class Storage:
    """One run of the module on one host."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.changes: list[str] = []
        self.sources = mounts_of(Path("/proc/self/mounts").read_text())
        self.mounted = [(os.path.realpath(d), p) for d, p in self.sources]

    def apply(self) -> None:
        """Look at all disks, then bring each into use.

        Raises:
            Failed: one cannot be; nothing was formatted or mounted where that could be known before.
        """
        todo = [(row, self.look(row)) for row in self.module.params["mounts"]]
        for row, empty in todo:
            if empty:
                self.make(row)
            if not self.is_mounted(row):
                self.mount(row)
            if row["rights"] is not None:
                self.give(row)

    def is_mounted(self, row: dict[str, object]) -> bool:
        """Whether a disk or a share is mounted at its place, and nothing over it."""
        if row["shared"]:
            return [source for source, place in self.sources if place == row["place"]][-1:] == [row["device"]]
        return (os.path.realpath(str(row["device"])), row["place"]) in self.mounted

    def look(self, row: dict[str, object]) -> bool:
        """Say whether a disk is empty; a share is never taken for that.

        Raises:
            Failed: it is not there, holds something else, or its place is taken.
        """
        if row["shared"]:
            there = [source for source, place in self.sources if place == row["place"]]
            if there and not self.is_mounted(row) and not self.is_ours(row):
                raise Failed(row["place"], f"{there[-1]} is mounted there, and not by {row['unit']}")
            if not there:
                self.refuse_full(row)
            return False
        device = os.path.realpath(row["device"])
        if not Path(device).exists():
            raise Failed(row["device"], "there is no such device")
        if not stat.S_ISBLK(Path(device).stat().st_mode):
            raise Failed(row["device"], "it is no block device")
        content = self.content(device)
        if content not in {"", row["filesystem"]}:
            raise Failed(row["device"], f"it holds {content}, and is never formatted; {row['filesystem']} is wanted")
        if not self.is_mounted(row):
            there = [d for d, place in self.mounted if place == row["place"]]
            if there:
                raise Failed(row["place"], f"{there[-1]} is mounted there")
            self.refuse_full(row)
        return not content

    def is_ours(self, row: dict[str, object]) -> bool:
        """Whether a unit of that name was gpuprov's when the host was last brought to a want."""
        path = self.module.params["record"]
        owned = dict(record.read_json(Path(path), dict)) if path else {}
        return f"/etc/systemd/system/{row['unit']}" in dict(owned.get("files", {}))

    def refuse_full(self, row: dict[str, object]) -> None:
        """Refuse a place that holds files.

        Raises:
            Failed: it does.
        """
        place = Path(str(row["place"]))
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise Failed(row["place"], "it is not an empty folder: a mount would hide what is there")

    def content(self, device: str) -> str:
        """What a device holds: a file system, or words for anything else; empty for nothing at all."""
        code, out, err = self.module.run_command(["blkid", "-p", "-o", "export", device], environ_update=PLAIN)
        found = dict(line.split("=", 1) for line in out.splitlines() if "=" in line)
        if code == 0:
            return found.get("TYPE") or f"partitions ({found.get('PTTYPE', 'of an unknown kind')})"
        if code != NOTHING_FOUND:
            raise Failed(device, f"blkid ended with status {code}", (out + err).strip())
        name = Path(device).name
        block = Path("/sys/class/block") / name
        above = [*block.glob(f"{name}*"), *block.glob("holders/*")]
        if above:
            return f"something that {above[0].name} uses"
        with Path(device).open("rb") as stream:
            return "data without a file system" if stream.read(FIRST).strip(b"\0") else ""

    def make(self, row: dict[str, str]) -> None:
        """Give an empty disk its file system."""
        self.changes.append(f"{row['device']} was empty and has {row['filesystem']} now")
        if self.module.check_mode:
            return
        # The kernel refuses this while the device is mounted, or part of something else.
        os.close(os.open(os.path.realpath(row["device"]), os.O_RDONLY | os.O_EXCL))
        code, out, err = self.module.run_command(
            [f"mkfs.{row['filesystem']}", os.path.realpath(row["device"])], environ_update=PLAIN
        )
        if code:
            raise Failed(row["device"], f"mkfs.{row['filesystem']} ended with status {code}", (out + err).strip())

    def mount(self, row: dict[str, str]) -> None:
        """Mount a disk by its unit, now and at each boot."""
        self.changes.append(f"{row['device']} is mounted at {row['place']}")
        if self.module.check_mode:
            return
        Path(row["place"]).mkdir(parents=True, exist_ok=True)
        start = [["enable", "--now", row["unit"]]]
        if any(place == row["place"] for _, place in self.sources):  # the share of another server, which goes first
            start = [["enable", row["unit"]], ["restart", row["unit"]]]
        for words in (["daemon-reload"], *start):
            code, out, err = self.module.run_command(["systemctl", *words], environ_update=PLAIN)
            if code:
                _, log, _ = self.module.run_command(
                    ["journalctl", "-u", row["unit"], "-n", "12", "--no-pager", "-o", "cat"], environ_update=PLAIN
                )
                raise Failed(row["place"], f"{row['unit']} cannot be started", f"{out}{err}\n{log}".strip())

    def give(self, row: dict[str, object]) -> None:
        """Give groups their rights on a mount's topmost folder and on what is made in it later, or take them back."""
        place, entries = str(row["place"]), list(row["rights"])
        try:
            wanted = acl(entries) if entries else None
        except KeyError as error:
            if self.module.check_mode:  # the step before makes the group
                self.changes.append(f"{place} belongs to {', '.join(entries)}")
                return
            raise Failed(place, f"there is no group {error.args[0]}") from None
        if all(read_acl(place, kind) == wanted for kind in KINDS):
            return
        self.changes.append(
            f"{place} belongs to {', '.join(entries)}"
            if entries
            else f"{place} is open to all again, as before gpuprov"
        )
        if self.module.check_mode:
            return
        for kind in KINDS:
            if wanted is not None:
                os.setxattr(place, kind, wanted)
            elif read_acl(place, kind) is not None:
                os.removexattr(place, kind)
        os.chown(place, 0, 0)
        if wanted is None:
            Path(place).chmod(0o755)


def acl(entries: list[str]) -> bytes:
    """A list of access control for entries such as `group ml rwx`: root and these groups, and nobody else.

    Raises:
        KeyError: there is no such group; its name is the argument.
    """
    groups = []
    for entry in entries:
        _, name, letters = entry.split()
        try:
            number = grp.getgrnam(name).gr_gid
        except KeyError:
            raise KeyError(name) from None
        groups.append((8, sum(bit for letter, bit in BITS.items() if letter in letters), number))
    rows = [(1, 7, NOBODY), (4, 0, NOBODY), *sorted(groups, key=lambda row: row[2]), (16, 7, NOBODY), (32, 0, NOBODY)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)


def read_acl(place: str, kind: str) -> bytes | None:
    """What a folder has of a kind; None for nothing, also where the folder is not there yet."""
    try:
        return os.getxattr(place, kind)
    except OSError as error:
        if error.errno in {errno.ENODATA, errno.EOPNOTSUPP, errno.ENOENT}:
            return None
        raise


def main() -> None:
    """Run as an Ansible module."""
    row = {key: {"type": "str", "required": True} for key in ("device", "place", "filesystem", "unit")}
    row["shared"] = {"type": "bool", "default": False}
    row["rights"] = {"type": "list", "elements": "str"}
    module = AnsibleModule(
        argument_spec={
            "mounts": {"type": "list", "elements": "dict", "default": [], "options": row},
            "record": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    storage = Storage(module)
    try:
        storage.apply()
    except Failed as failure:
        ours = {"reason": "storage", "path": failure.path, "text": failure.text, "detail": failure.detail}
        module.fail_json(msg=f"{failure.path}: {failure.text}", gpuprov=ours)
    except OSError as error:
        ours = {"reason": "storage", "path": str(error.filename or ""), "text": str(error.strerror), "detail": ""}
        module.fail_json(msg=f"{error.filename}: {error.strerror}", gpuprov=ours)
    module.exit_json(changed=bool(storage.changes), notes=storage.changes)


if __name__ == "__main__":
    main()
