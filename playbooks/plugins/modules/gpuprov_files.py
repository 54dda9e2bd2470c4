#!/usr/bin/python
"""Write and delete a list of files in one task: atomically, with a backup of what was not ours, a record and a diff."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpuprov_files
short_description: Write and delete a list of files in one task
description:
  - Replaces files, or merges our keys into a JSON file and keeps all others.
  - Every file is validated before it replaces the old one, and replaced atomically.
  - What was there before gpuprov came is saved once and comes back when our file is deleted.
  - Running units restart in the same step as their file changes. A run that is lost between a file and a handler
    would leave a unit with its old settings, which nobody could see afterwards.
options:
  files:
    description: Files, each with path, text, mode, owner, group, merge, validate, restarts, volatile and keep.
    type: list
    elements: dict
    default: []
  pending:
    description: A mark that is set before the first change; empty for none. Whoever acts on the changes takes it away.
      While it is there the module reports a change, so that a run that was lost in between is made good.
    type: str
    default: ""
  delete: {description: Paths to delete., type: list, elements: str, default: []}
  take_back:
    description: JSON files, each with path, validate and reload, that lose the keys that gpuprov merged into them; what
      stood in their place before comes back. Running units among `reload` read the file anew without a restart.
    type: list
    elements: dict
    default: []
  delete_folders: {description: Folders to delete with everything in them., type: list, elements: str, default: []}
  record:
    description: Path of the record of owned files; empty for none. Keys merged into files of others are written down
      in merged.json beside it.
    type: str
    default: ""
  backups:
    description: Folder for what was there before; empty for none.
    type: str
    default: /var/lib/gpuprov/backups
author: [gpuprov]
"""

RETURN = r"""
changes: {description: Paths that changed, type: list, returned: success}
restarts: {description: Units whose files changed, type: list, returned: success}
notes: {description: Sentences about checks that could not be made, type: list, returned: success}
"""

import errno  # noqa: E402
import grp  # noqa: E402
import hashlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import pwd  # noqa: E402
import shlex  # noqa: E402
import shutil  # noqa: E402
import tempfile  # noqa: E402
from pathlib import Path  # noqa: E402

from ansible.module_utils import gpuprov_merge, gpuprov_taken  # noqa: E402
from ansible.module_utils import gpuprov_record as record  # noqa: E402
from ansible.module_utils.basic import AnsibleModule  # noqa: E402

PLAIN = {"LC_ALL": "C.UTF-8", "LANGUAGE": "", "SYSTEMD_COLORS": "0"}
UNITS = {".service", ".mount", ".timer"}
UNKNOWN_FLAG = ("unknown flag", "unrecognized option", "flag provided but not defined")


class Failed(Exception):  # noqa: N818 - a reason, not an error of this program
    """Raised when a file cannot be brought to its wanted state; the old one is still there."""

    def __init__(self, path: str, text: str, detail: str = "") -> None:
        super().__init__(text)
        self.path, self.text, self.detail = path, text, detail


class Files:
    """One run of the module on one host."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.check = module.check_mode
        self.changes: list[str] = []
        self.restarts: list[str] = []
        self.reloads: list[str] = []
        self.notes: list[str] = []
        self.diff: list[dict[str, str]] = []
        self.record_path = Path(module.params["record"]) if module.params["record"] else None
        self.record = dict(record.read_json(self.record_path, dict)) if self.record_path else {}
        self.merged_path = self.record_path.with_name("merged.json") if self.record_path else None
        self.merged = dict(record.read_json(self.merged_path, dict)) if self.merged_path else {}
        self.pending = Path(module.params["pending"]) if module.params["pending"] else None
        self.left = self.pending is not None and self.pending.exists()
        """Whether an earlier run was lost between a change and what follows from it."""
        if self.left:
            self.notes.append("an earlier run changed files here and was lost before what follows from that")

    def apply(self) -> None:
        """Write and delete everything, then restart the units of what changed, also where a later file fails.

        Raises:
            Failed: a file or a unit is not as wanted.
        """
        try:
            for wanted in self.module.params["files"]:
                self.write(wanted)
            for row in self.module.params["take_back"]:
                self.take_back(row)
            for name in self.module.params["delete"]:
                self.delete(name)
            for name in self.module.params["delete_folders"]:
                self.delete_folder(name)
        except (Failed, OSError) as error:
            try:
                self.restart()
            except Failed as second:
                self.notes.append(f"{second.path}: {second.text}")
            raise error from None
        self.restart()

    def write(self, wanted: dict[str, object]) -> None:
        """Bring one file to its wanted state.

        Raises:
            Failed: it cannot be merged, validated or written.
        """
        # A symbolic link is the operator's choice of place; the file behind it is written.
        path = Path(os.path.realpath(str(wanted["path"])))
        if path.is_dir():
            raise Failed(str(path), "it is a folder, a file was expected")
        if wanted.get("keep") and path.exists():
            return
        current = path.read_text(encoding="utf-8", errors="surrogateescape") if path.exists() else None
        json_file = wanted.get("merge", "replace") == "json"
        text = self._wanted_text(wanted, path, current)
        # A shared file keeps the owner and mode that the operator gave it.
        attributes = None if json_file and path.exists() else _attributes(wanted)
        if text == current and (attributes is None or attributes == _attributes_of(path)):
            return
        self._note_change(wanted, path, current, text)
        if text != current:
            if json_file:
                self._remember_merged(str(wanted["path"]), current, str(wanted["text"]))
            self._replace(wanted, path, text, attributes)
        elif not self.check and attributes is not None:
            os.chown(path, attributes[1], attributes[2])
            path.chmod(attributes[0])
        self.restarts += [unit for unit in list(wanted.get("restarts") or []) if unit not in self.restarts]
        if not json_file:
            self._forget_merged(str(wanted["path"]))
            self._remember(str(wanted["path"]), hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest())

    def _wanted_text(self, wanted: dict[str, object], path: Path, current: str | None) -> str:
        text = str(wanted["text"])
        if wanted.get("merge", "replace") == "json":
            try:
                text = gpuprov_merge.merged(current, text)
            except gpuprov_merge.NotMergeable as error:
                raise Failed(str(path), str(error)) from error
        same = gpuprov_merge.same_but(current, text, list(wanted.get("volatile") or []))
        return str(current) if same else text

    def restart(self) -> None:
        """Restart the running units whose files changed.

        Raises:
            Failed: one does not come up with the new file.
        """
        if self.check:
            return
        # Units that are new, or that start later, are read when they start: gpuprov_services sees to that.
        gone = any(path.startswith("/etc/systemd/") and not Path(path).exists() for path in self.changes)
        if gone or (self.restarts and any(path.startswith("/etc/systemd/") for path in self.changes)):
            self.module.run_command(["systemctl", "daemon-reload"], environ_update=PLAIN, check_rc=True)
        # What does not run, or is not there any more, has nothing to read anew.
        calls = [("try-restart", unit) for unit in self.restarts]
        calls += [("try-reload-or-restart", unit) for unit in self.reloads if unit not in self.restarts]
        for verb, unit in calls:
            if verb != "try-restart" and self._is_stopped(unit):
                continue
            code, out, err = self.module.run_command(["systemctl", verb, unit], environ_update=PLAIN)
            if code:
                _, log, _ = self.module.run_command(
                    ["journalctl", "-u", unit, "-n", "12", "--no-pager", "-o", "cat"], environ_update=PLAIN
                )
                raise Failed(unit, "it does not come up with its new file", f"{(out + err).strip()}\n{log.strip()}")

    def _is_stopped(self, unit: str) -> bool:
        return bool(self.module.run_command(["systemctl", "-q", "is-active", unit], environ_update=PLAIN)[0])

    def take_back(self, row: dict[str, object]) -> None:
        """Take our keys out of a file that is not ours; the file goes only where gpuprov made it and nothing is left.

        Raises:
            Failed: it is no JSON object any more, or what is left is refused.
        """
        name = str(row["path"])
        path, taken = Path(os.path.realpath(name)), self.merged.get(name)
        if taken is None or not path.exists():
            self._forget_merged(name)
            return
        current = path.read_text(encoding="utf-8", errors="surrogateescape")
        try:
            there = gpuprov_merge.json_object(current)
        except gpuprov_merge.NotMergeable as error:
            raise Failed(name, str(error)) from error
        rest = gpuprov_taken.without(there, taken)
        if rest != there:
            self._take_out(row, path, current, rest, made=bool(taken["made"]))
        self._forget_merged(name)

    def _take_out(
        self, row: dict[str, object], path: Path, current: str, rest: dict[str, object], *, made: bool
    ) -> None:
        default = rest.get("default-runtime", "runc")
        if default != "runc" and default not in dict(rest.get("runtimes") or {}):
            raise Failed(str(path), f"its default-runtime is {default}, which would go; set another one first")
        text = gpuprov_merge.dump(rest) if rest or not made else ""
        self._note_change(row, path, current, text)
        if not text:
            if not self.check:
                path.unlink()
                record.sync_folder(path.parent)
        else:
            self._replace({**row, "merge": "json"}, path, text, None, leaving=True)
        self.reloads += [str(unit) for unit in list(row.get("reload") or [])]

    def delete(self, name: str) -> None:
        """Delete a file of ours; what was there before gpuprov came is put back."""
        path = Path(name)
        backup = self._backup_of(path)
        if not path.exists() and not path.is_symlink():
            self._remember(name, None)
            return
        before = path.read_text(errors="replace") if path.is_file() else ""
        after = backup.read_text(errors="replace") if backup.exists() else ""
        self._change(name, name, before, after)
        if self.check:
            return
        self._stop_unit(path)
        if backup.exists() and self.module.params["backups"]:
            shutil.move(backup, path)  # also across file systems
        else:
            path.unlink()
        record.sync_folder(path.parent)
        self._remember(name, None)

    def _stop_unit(self, path: Path) -> None:
        """A unit of ours is stopped and disabled before its file goes: systemd would keep both otherwise."""
        if str(path.parent) != "/etc/systemd/system" or path.suffix not in UNITS:
            return
        code, out, err = self.module.run_command(["systemctl", "disable", "--now", path.name], environ_update=PLAIN)
        if code:
            raise Failed(str(path), "the unit cannot be stopped and disabled", (out + err).strip())

    def delete_folder(self, name: str) -> None:
        """Delete a folder of ours."""
        if Path(name).is_dir():
            self.changes.append(name)
            if not self.check:
                shutil.rmtree(name)

    def _note_change(self, wanted: dict[str, object], path: Path, current: str | None, text: str) -> None:
        header = f"{path} ({wanted.get('mode', '0644')})"
        before = (current or "").encode(errors="replace").decode()
        self._change(str(wanted["path"]), header, before, text)

    def _change(self, name: str, header: str, before: str, after: str) -> None:
        """Note a change before it is made; texts go to the controller only where a diff was asked for."""
        if self.pending is not None and not self.check and not self.changes:
            record.write_text(self.pending, "")
        self.changes.append(name)
        if self.module._diff:  # noqa: SLF001 - Ansible gives it no other name
            self.diff.append({"before_header": header, "after_header": header, "before": before, "after": after})

    def _replace(
        self,
        wanted: dict[str, object],
        path: Path,
        text: str,
        attributes: tuple[int, int, int] | None,
        *,
        leaving: bool = False,
    ) -> None:
        folder = tempfile.gettempdir() if self.check else str(path.parent)
        if not self.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not leaving:
                self._back_up(str(wanted["path"]), path, shared=wanted.get("merge", "replace") == "json")
        handle, new = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".gpuprov-new", dir=folder)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            # Where our keys leave, the program may have left before.
            self._validate(str(wanted.get("validate") or ""), str(wanted["path"]), new, required=not leaving)
            if self.check:
                return
            mode, owner, group = attributes or _attributes_of(path)
            os.chown(new, owner, group)
            Path(new).chmod(mode)
            Path(new).replace(path)
            record.sync_folder(path.parent)
        finally:
            Path(new).unlink(missing_ok=True)

    def _validate(self, command: str, path: str, new: str, *, required: bool) -> None:
        if not command:
            return
        argv = [word.replace("%s", new) for word in shlex.split(command)]
        if shutil.which(argv[0]) is None:
            # In check mode the program may be among what would be installed first.
            if not self.check and required:
                raise Failed(path, f"{argv[0]}, which checks this file, is not installed")
            self.notes.append(f"{path} was not checked: {argv[0]} is not installed")
            return
        code, out, err = self.module.run_command(argv, environ_update={"LC_ALL": "C.UTF-8", "LANGUAGE": ""})
        if code and any(words in out + err for words in UNKNOWN_FLAG):
            self.notes.append(f"{path} was only parsed: this {argv[0]} cannot check a file")
        elif code:
            raise Failed(path, f"{argv[0]} refuses the new file", (out + err).strip()[-2000:])

    def _back_up(self, name: str, path: Path, *, shared: bool) -> None:
        if not self.module.params["backups"]:
            return
        backup = self._backup_of(Path(name))
        owned = name in dict(self.record.get("files") or {})
        if not path.exists() or backup.exists() or (owned and not shared):
            return
        backup.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, backup)
        _, owner, group = _attributes_of(path)
        os.chown(backup, owner, group)

    def _backup_of(self, path: Path) -> Path:
        return Path(self.module.params["backups"]) / str(path).lstrip("/")

    def _remember(self, name: str, digest: str | None) -> None:
        """Write ownership down at once, so that a run that is killed later leaves no orphan."""
        if self.record_path is None or self.check:
            return
        files = dict(self.record.get("files") or {})
        if files.get(name) == digest:
            return
        files.pop(name, None)
        if digest is not None:
            files[name] = digest
        self.record["files"] = files
        record.write_json(self.record_path, self.record)

    def _remember_merged(self, name: str, current: str | None, ours: str) -> None:
        """Write down, before they are there, which keys of a shared file are ours."""
        if self.merged_path is None or self.check:
            return
        theirs = gpuprov_merge.json_object(current) if current is not None else None
        entry = gpuprov_taken.entry(self.merged.get(name), theirs, json.loads(ours))
        if entry is not None:
            self.merged[name] = entry
            record.write_json(self.merged_path, self.merged)

    def _forget_merged(self, name: str) -> None:
        if self.merged.pop(name, None) is not None and self.merged_path is not None and not self.check:
            record.write_json(self.merged_path, self.merged)


def _attributes(wanted: dict[str, object]) -> tuple[int, int, int]:
    owner, group = str(wanted.get("owner", "root")), str(wanted.get("group", "root"))
    try:
        return int(str(wanted.get("mode", "0644")), 8), pwd.getpwnam(owner).pw_uid, grp.getgrnam(group).gr_gid
    except KeyError as error:
        raise Failed(str(wanted["path"]), f"no such user or group on this host: {owner}:{group}") from error


def _attributes_of(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_mode & 0o7777, found.st_uid, found.st_gid


def _reason(error: Failed | record.Broken | OSError) -> dict[str, str]:
    """What the controller is told of a failure."""
    if isinstance(error, record.Broken):
        return {"reason": "record", "path": str(error.path), "text": error.text, "detail": ""}
    if isinstance(error, OSError):
        reason = "space" if error.errno == errno.ENOSPC else "file"
        return {"reason": reason, "path": str(error.filename or ""), "text": str(error.strerror), "detail": ""}
    return {"reason": "file", "path": error.path, "text": error.text, "detail": error.detail}


def main() -> None:
    """Run as an Ansible module."""
    row = {
        "path": {"type": "path", "required": True},
        "text": {"type": "str", "required": True},
        "mode": {"type": "str", "default": "0644"},
        "owner": {"type": "str", "default": "root"},
        "group": {"type": "str", "default": "root"},
        "merge": {"type": "str", "default": "replace", "choices": ["replace", "json"]},
        "validate": {"type": "str", "default": ""},
        "restarts": {"type": "list", "elements": "str", "default": []},
        "volatile": {"type": "list", "elements": "str", "default": []},
        "keep": {"type": "bool", "default": False},
    }
    names = {"type": "list", "elements": "str", "default": []}
    shared = {
        "path": {"type": "path", "required": True},
        "validate": {"type": "str", "default": ""},
        "reload": names,
    }
    module = AnsibleModule(
        argument_spec={
            "files": {"type": "list", "elements": "dict", "default": [], "options": row},
            "delete": names,
            "take_back": {"type": "list", "elements": "dict", "default": [], "options": shared},
            "delete_folders": names,
            "record": {"type": "str", "default": ""},
            "pending": {"type": "str", "default": ""},
            "backups": {"type": "str", "default": "/var/lib/gpuprov/backups"},
        },
        supports_check_mode=True,
    )
    files = None
    try:
        files = Files(module)
        files.apply()
    except (Failed, record.Broken, OSError) as error:
        ours = _reason(error)
        ours["detail"] = "\n".join([*files.notes, ours["detail"]]).strip() if files else ours["detail"]
        module.fail_json(msg=f"{ours['path']}: {ours['text']}", gpuprov=ours)
    module.exit_json(
        changed=bool(files.changes) or files.left,
        changes=files.changes,
        restarts=files.restarts,
        notes=files.notes,
        **({"diff": files.diff} if module._diff else {}),  # noqa: SLF001 - Ansible gives it no other name
    )


if __name__ == "__main__":
    main()
