#!/usr/bin/python
"""Bring users, groups and sshd's place for keys to the want in one task; nothing of a user's is ever deleted."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpuprov_access
short_description: Bring users, groups and sshd's place for keys to the want
description:
  - Makes users and groups that are missing, and puts members into groups. Members of others stay.
  - Closes accounts by letting them expire (shadow(5)), which no key and no password opens; data and homes stay.
  - Tells sshd of one more place for keys, besides those that it has, and looks whether sshd takes it.
  - Writes down what it made before it makes it, so that a run that is killed leaves nothing that nobody owns.
options:
  users: {description: "Users, each with name and uid.", type: list, elements: dict, default: []}
  groups: {description: "Groups, each with name, gid and members.", type: list, elements: dict, default: []}
  lock: {description: Users whose accounts are closed., type: list, elements: str, default: []}
  leave: {description: "Members, each with group and name, that leave.", type: list, elements: dict, default: []}
  keys: {description: What AuthorizedKeysFile must name; empty for nothing., type: str, default: ""}
  forget_keys: {description: Whether our file for sshd goes., type: bool, default: false}
  ssh_file: {description: Our file for sshd., type: str, default: /etc/ssh/sshd_config.d/00-gpuprov.conf}
  sshd: {description: The program., type: str, default: /usr/sbin/sshd}
  record: {description: Path of the record., type: str, default: /var/lib/gpuprov/access.json}
  accounts: {description: Folder of passwd and group., type: str, default: /etc}
author: [gpuprov]
"""

RETURN = r"""
changes: {description: Sentences about what changed, type: list, returned: success}
notes: {description: Sentences worth telling, type: list, returned: success}
"""

import os  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

from ansible.module_utils import gpuprov_record as record  # noqa: E402
from ansible.module_utils.basic import AnsibleModule  # noqa: E402

ENVIRONMENT = {"LC_ALL": "C.UTF-8", "LANGUAGE": ""}
LOWEST_ID = 1000
"""Below it are accounts of the system (Debian policy, 9.2.2); they are not gpuprov's to change."""
CLOSED = "1"
"""Day of expiry, 1970-01-02: day 0 means two things (shadow(5))."""
MARKER = "# Managed by gpuprov. Change the spec, not this file."


class Failed(Exception):  # noqa: N818 - a reason, not an error of this program
    """Raised when something cannot be brought to the want."""

    def __init__(self, subject: str, text: str, detail: str = "") -> None:
        super().__init__(text)
        self.subject, self.text, self.detail = subject, text, detail


class Access:
    """One run of the module on one host."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.check = module.check_mode
        self.changes: list[str] = []
        self.notes: list[str] = []
        self.path = Path(module.params["record"])
        self.record = dict(record.read_json(self.path, dict))

    def apply(self) -> None:
        """Make what is missing, then take away what is not wanted.

        Raises:
            Failed: something is not as wanted; what was done before it stays.
        """
        params = self.module.params
        for user in params["users"]:
            self.user(user["name"], user["uid"])
        for group in params["groups"]:
            self.group(group["name"], group["gid"])
            for name in group["members"]:
                self.join(name, group["name"])
        for row in params["leave"]:
            self.leave(row["name"], row["group"])
        for name in params["lock"]:
            self.lock(name)
        if params["keys"]:
            self.look_for_keys(params["keys"])
        elif params["forget_keys"]:
            self.forget_keys()

    def user(self, name: str, uid: int | None) -> None:
        """Make a user, or open their account."""
        row = self._row("passwd", name)
        if row is None:
            if _is_elsewhere(self, "passwd", name):
                raise Failed(name, "the user comes from a directory service, and gpuprov makes only local accounts")
            self._remember("users", name)
            own = ["--gid", name] if self._row("group", name) else ["--user-group"]
            number = [] if uid is None else ["--uid", str(uid)]
            self._do(
                name, f"user {name} made", ["useradd", "--create-home", "--shell", "/bin/bash", *own, *number, name]
            )
            return
        if int(row[2]) < LOWEST_ID:
            raise Failed(name, f"it is an account of the system (number {row[2]}), and no person's")
        if self._is_closed(name):
            self._do(name, f"user {name} opened", ["usermod", "--expiredate", "", name])

    def group(self, name: str, gid: int | None) -> None:
        """Make a group."""
        if self._row("group", name) is None:
            if _is_elsewhere(self, "group", name):
                raise Failed(name, "the group comes from a directory service, and gpuprov makes only local ones")
            number = [] if gid is None else ["--gid", str(gid)]
            self._do(name, f"group {name} made", ["groupadd", *number, name])

    def join(self, name: str, group: str) -> None:
        """Put a user into a group."""
        if name not in self._members(group):
            members = dict(self.record.get("members") or {})
            if name not in members.get(group, []):
                self.record["members"] = {**members, group: sorted([*members.get(group, []), name])}
                self._write()
            self._do(name, f"{name} joined {group}", ["gpasswd", "--add", name, group])

    def leave(self, name: str, group: str) -> None:
        """Take a user that gpuprov put into a group out of it."""
        if name in self._members(group):
            self._do(name, f"{name} left {group}", ["gpasswd", "--delete", name, group])
        members = dict(self.record.get("members") or {})
        rest = [member for member in members.get(group, []) if member != name]
        members.pop(group, None)
        self.record["members"] = {**members, group: rest} if rest else members
        self._write()

    def lock(self, name: str) -> None:
        """Close an account that gpuprov made; what runs there is told and left."""
        row = self._row("passwd", name)
        if row is None or self._is_closed(name):
            return
        if name in {os.environ.get("SUDO_USER", ""), os.environ.get("USER", "")} - {"root"}:
            raise Failed(name, "gpuprov itself logs in as this user, and would lock itself out")
        self._do(name, f"user {name} locked", ["usermod", "--expiredate", CLOSED, name])
        running = _processes_of(int(row[2]))
        if running:
            self.notes.append(f"{name} is locked, and still runs: {', '.join(running)}")

    def look_for_keys(self, place: str) -> None:
        """Name one more place for keys to sshd.

        Raises:
            Failed: sshd refuses the file, or does not read it.
        """
        self._folder(Path(place).parent)
        now = self._places()
        if place in now:
            return
        path = Path(self.module.params["ssh_file"])
        self.changes.append(f"sshd looks for keys in {place}")
        if self.check:
            return
        self.record["ssh"] = True
        self._write()
        before = path.read_text() if path.exists() else None
        path.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(path, f"{MARKER}\nAuthorizedKeysFile {' '.join([*now, place])}\n")
        refused = self._refusal(place)
        if refused is not None:
            if before is None:
                path.unlink()
            else:
                record.write_text(path, before)
            raise refused
        self._reload()

    def _refusal(self, place: str) -> Failed | None:
        """Why sshd does not look there now, although our file names it."""
        try:
            if place in self._places():
                return None
        except Failed as failure:
            return failure
        file = Path(self.module.params["ssh_file"])
        return Failed(
            str(file),
            "sshd does not take it: its configuration does not read that folder first",
            f"put `Include {file.parent}/*.conf` at the top of /etc/ssh/sshd_config",
        )

    def forget_keys(self) -> None:
        """Take our file for sshd away."""
        path = Path(self.module.params["ssh_file"])
        if path.exists():
            self.changes.append(f"{path} deleted")
            if not self.check:
                path.unlink()
                self._reload()
        self.record.pop("ssh", None)
        self._write()

    def _places(self) -> list[str]:
        sshd, detail = self.module.params["sshd"], ""
        for flag in ("-T", "-G"):
            code, out, err = self.module.run_command([sshd, flag], environ_update=ENVIRONMENT)
            if code == 0:
                lines = [line.split() for line in out.splitlines()]
                words = next((row[1:] for row in lines if row[:1] == ["authorizedkeysfile"]), [])
                return [] if words == ["none"] else words
            detail = detail or (out + err).strip()
        raise Failed(sshd, "sshd does not tell its settings, or refuses them", detail)

    def _reload(self) -> None:
        """Sessions stay; a daemon that waits for its first login reads the file then."""
        argv = ["systemctl", "try-reload-or-restart", "ssh.service"]
        code, out, err = self.module.run_command(argv, environ_update=ENVIRONMENT)
        if code:
            raise Failed("ssh", "it did not read its new settings", (out + err).strip())

    def _folder(self, folder: Path) -> None:
        """Everybody's sshd reads keys as the user who logs in: the folder must be open to all."""
        if not self.check:
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o755)

    def _do(self, subject: str, text: str, argv: list[str]) -> None:
        self.changes.append(text)
        if self.check:
            return
        code, out, err = self.module.run_command(argv, environ_update=ENVIRONMENT)
        if code:
            raise Failed(subject, f"{argv[0]} ended with status {code}", (out + err).strip()[-2000:])

    def _remember(self, key: str, name: str) -> None:
        self.record[key] = sorted({*self.record.get(key, []), name})
        self._write()

    def _write(self) -> None:
        if not self.check and (self.record or self.path.exists()):
            record.write_json(self.path, self.record)

    def _row(self, file: str, name: str) -> list[str] | None:
        """The row of a local account: `getent` would ask a directory service too."""
        for line in (Path(self.module.params["accounts"]) / file).read_text(errors="replace").splitlines():
            if line.startswith(f"{name}:"):
                return line.split(":")
        return None

    def _members(self, group: str) -> list[str]:
        row = self._row("group", group)
        return [member for member in row[3].split(",") if member] if row else []

    def _is_closed(self, name: str) -> bool:
        row = self._row("shadow", name)
        day = row[7] if row else ""
        return day.isdigit() and int(day) * 86400 <= time.time()


def _is_elsewhere(access: Access, family: str, name: str) -> bool:
    """Whether another service than the local files knows the name."""
    code, _, _ = access.module.run_command(["getent", family, name], environ_update=ENVIRONMENT)
    return code == 0


def _processes_of(uid: int) -> list[str]:
    """Names of what a user runs, at most five."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and folder.stat().st_uid == uid:
                found.append((folder / "comm").read_text().strip())
        except OSError:
            continue  # it has ended
    return sorted(set(found))[:5]


def main() -> None:
    """Run as an Ansible module."""
    user = {"name": {"type": "str", "required": True}, "uid": {"type": "int"}}
    group = {
        "name": {"type": "str", "required": True},
        "gid": {"type": "int"},
        "members": {"type": "list", "elements": "str", "default": []},
    }
    member = {"group": {"type": "str", "required": True}, "name": {"type": "str", "required": True}}
    module = AnsibleModule(
        argument_spec={
            "users": {"type": "list", "elements": "dict", "default": [], "options": user},
            "groups": {"type": "list", "elements": "dict", "default": [], "options": group},
            "lock": {"type": "list", "elements": "str", "default": []},
            "leave": {"type": "list", "elements": "dict", "default": [], "options": member},
            "keys": {"type": "str", "default": "", "no_log": False},
            "forget_keys": {"type": "bool", "default": False, "no_log": False},
            "ssh_file": {"type": "str", "default": "/etc/ssh/sshd_config.d/00-gpuprov.conf"},
            "sshd": {"type": "str", "default": "/usr/sbin/sshd"},
            "record": {"type": "str", "default": "/var/lib/gpuprov/access.json"},
            "accounts": {"type": "str", "default": "/etc"},
        },
        supports_check_mode=True,
    )
    try:
        access = Access(module)
        access.apply()
    except Failed as failure:
        ours = {"reason": "account", "path": failure.subject, "text": failure.text, "detail": failure.detail}
        module.fail_json(msg=f"{failure.subject}: {failure.text}", gpuprov=ours)
    except record.Broken as error:
        ours = {"reason": "record", "path": str(error.path), "text": error.text, "detail": ""}
        module.fail_json(msg=str(error), gpuprov=ours)
    module.exit_json(changed=bool(access.changes), changes=access.changes, notes=access.notes)


if __name__ == "__main__":
    main()
