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
    description: Files, each with path, text, mode, owner, group, merge, validate, restarts and volatile.
    type: list
    elements: dict
    default: []
  delete: {description: Paths to delete., type: list, elements: str, default: []}
  delete_folders: {description: Folders to delete with everything in them., type: list, elements: str, default: []}
  record: {description: Path of the record of owned files; empty for none., type: str, default: ""}
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

import grp  # noqa: E402
import hashlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import pwd  # noqa: E402
import shlex  # noqa: E402
import shutil  # noqa: E402
import tempfile  # noqa: E402
from pathlib import Path  # noqa: E402

from ansible.module_utils import gpuprov_merge  # noqa: E402
from ansible.module_utils.basic import AnsibleModule  # noqa: E402

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
        self.notes: list[str] = []
        self.diff: list[dict[str, str]] = []
        self.record_path = Path(module.params["record"]) if module.params["record"] else None
        self.record: dict[str, object] = _read_json(self.record_path)

    def write(self, wanted: dict[str, object]) -> None:
        """Bring one file to its wanted state.

        Raises:
            Failed: it cannot be merged, validated or written.
        """
        # A symbolic link is the operator's choice of place; the file behind it is written.
        path = Path(os.path.realpath(str(wanted["path"])))
        if path.is_dir():
            raise Failed(str(path), "it is a folder, a file was expected")
        current = path.read_text(encoding="utf-8", errors="surrogateescape") if path.exists() else None
        json_file = wanted.get("merge", "replace") == "json"
        text = str(wanted["text"])
        if json_file:
            try:
                text = gpuprov_merge.merged(current, text)
            except gpuprov_merge.NotMergeable as error:
                raise Failed(str(path), str(error)) from error
        if gpuprov_merge.same_but(current, text, list(wanted.get("volatile") or [])):
            text = str(current)
        # A shared file keeps the owner and mode that the operator gave it.
        attributes = None if json_file and path.exists() else _attributes(wanted)
        if text == current and (attributes is None or attributes == _attributes_of(path)):
            return
        self._note_change(wanted, path, current, text)
        if text != current:
            self._replace(wanted, path, text, attributes)
        elif not self.check and attributes is not None:
            os.chown(path, attributes[1], attributes[2])
            path.chmod(attributes[0])
        if not json_file:
            self._remember(str(wanted["path"]), hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest())

    def restart(self) -> None:
        """Restart the running units whose files changed.

        Raises:
            Failed: one does not come up with the new file.
        """
        if self.check or not self.restarts:
            return
        environment = {"LC_ALL": "C.UTF-8", "LANGUAGE": "", "SYSTEMD_COLORS": "0"}
        if any(path.startswith("/etc/systemd/") for path in self.changes):
            self.module.run_command(["systemctl", "daemon-reload"], environ_update=environment, check_rc=True)
        for unit in self.restarts:
            code, out, err = self.module.run_command(["systemctl", "try-restart", unit], environ_update=environment)
            if code:
                _, log, _ = self.module.run_command(["journalctl", "-u", unit, "-n", "12", "--no-pager", "-o", "cat"])
                raise Failed(unit, "it does not come up with its new file", f"{(out + err).strip()}\n{log.strip()}")

    def delete(self, name: str) -> None:
        """Delete a file of ours; what was there before gpuprov came is put back."""
        path = Path(name)
        backup = self._backup_of(path)
        if not path.exists() and not path.is_symlink():
            self._remember(name, None)
            return
        before = path.read_text(errors="replace") if path.is_file() else ""
        after = backup.read_text(errors="replace") if backup.exists() else ""
        self.changes.append(name)
        self.diff.append({"before_header": name, "after_header": name, "before": before, "after": after})
        if self.check:
            return
        if backup.exists() and self.module.params["backups"]:
            shutil.move(backup, path)  # also across file systems
        else:
            path.unlink()
        self._remember(name, None)

    def delete_folder(self, name: str) -> None:
        """Delete a folder of ours."""
        if Path(name).is_dir():
            self.changes.append(name)
            if not self.check:
                shutil.rmtree(name)

    def _note_change(self, wanted: dict[str, object], path: Path, current: str | None, text: str) -> None:
        self.changes.append(str(wanted["path"]))
        self.restarts += [unit for unit in list(wanted.get("restarts") or []) if unit not in self.restarts]
        header = f"{path} ({wanted.get('mode', '0644')})"
        before = (current or "").encode(errors="replace").decode()
        self.diff.append({"before_header": header, "after_header": header, "before": before, "after": text})

    def _replace(
        self, wanted: dict[str, object], path: Path, text: str, attributes: tuple[int, int, int] | None
    ) -> None:
        folder = tempfile.gettempdir() if self.check else str(path.parent)
        if not self.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._back_up(str(wanted["path"]), path, shared=wanted.get("merge", "replace") == "json")
        handle, new = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".gpuprov-new", dir=folder)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            self._validate(str(wanted.get("validate") or ""), str(wanted["path"]), new)
            if self.check:
                return
            mode, owner, group = attributes or _attributes_of(path)
            os.chown(new, owner, group)
            Path(new).chmod(mode)
            Path(new).replace(path)
        finally:
            Path(new).unlink(missing_ok=True)

    def _validate(self, command: str, path: str, new: str) -> None:
        if not command:
            return
        argv = [word.replace("%s", new) for word in shlex.split(command)]
        if shutil.which(argv[0]) is None:
            # In check mode the program may be among what would be installed first.
            if not self.check:
                raise Failed(path, f"{argv[0]}, which checks this file, is not installed")
            self.notes.append(f"{path} was not checked: {argv[0]} is not installed yet")
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
        self.record_path.parent.mkdir(parents=True, exist_ok=True)
        new = self.record_path.with_name(self.record_path.name + ".new")
        new.write_text(json.dumps(self.record, sort_keys=True, indent=1) + "\n")
        new.replace(self.record_path)


def _attributes(wanted: dict[str, object]) -> tuple[int, int, int]:
    owner, group = str(wanted.get("owner", "root")), str(wanted.get("group", "root"))
    try:
        return int(str(wanted.get("mode", "0644")), 8), pwd.getpwnam(owner).pw_uid, grp.getgrnam(group).gr_gid
    except KeyError as error:
        raise Failed(str(wanted["path"]), f"no such user or group on this host: {owner}:{group}") from error


def _attributes_of(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_mode & 0o7777, found.st_uid, found.st_gid


def _read_json(path: Path | None) -> dict[str, object]:
    if path is None or not path.exists():
        return {}
    return dict(json.loads(path.read_text()))


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
    }
    names = {"type": "list", "elements": "str", "default": []}
    module = AnsibleModule(
        argument_spec={
            "files": {"type": "list", "elements": "dict", "default": [], "options": row},
            "delete": names,
            "delete_folders": names,
            "record": {"type": "str", "default": ""},
            "backups": {"type": "str", "default": "/var/lib/gpuprov/backups"},
        },
        supports_check_mode=True,
    )
    files = Files(module)
    try:
        for wanted in module.params["files"]:
            files.write(wanted)
        for name in module.params["delete"]:
            files.delete(name)
        for name in module.params["delete_folders"]:
            files.delete_folder(name)
        files.restart()
    except (Failed, OSError) as error:
        path = error.path if isinstance(error, Failed) else str(error.filename or "")
        text = error.text if isinstance(error, Failed) else str(error.strerror)
        detail = error.detail if isinstance(error, Failed) else ""
        reason = "space" if isinstance(error, OSError) and error.errno == 28 else "file"  # noqa: PLR2004 - ENOSPC
        module.fail_json(
            msg=f"{path}: {text}", gpuprov={"reason": reason, "path": path, "text": text, "detail": detail}
        )
    module.exit_json(
        changed=bool(files.changes),
        changes=files.changes,
        restarts=files.restarts,
        notes=files.notes,
        diff=files.diff,
    )


if __name__ == "__main__":
    main()
