#!/usr/bin/python
"""Give containerd a runtime, judged by its own dump of the merged configuration, or take it away again."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpuprov_containerd
short_description: Give containerd a runtime, judged by its own dump of the merged configuration
description:
  - Adds lines of ours, between two marks, to the file where they count; every other line stays.
  - What counts is what containerd reads from all files together. A copy of all of them is judged before anything is
    replaced; where the runtime would not be in it, or something else would vanish from it, nothing is written.
options:
  runtime: {description: Name of the runtime; empty takes our lines away., type: str, default: ""}
  type: {description: The runtime's type., type: str, default: io.containerd.runc.v2}
  program: {description: What runs., type: path, default: /usr/bin/nvidia-container-runtime}
  path: {description: The configuration., type: path, default: /etc/containerd/config.toml}
  unit: {description: The unit that restarts where it runs., type: str, default: containerd}
  backups: {description: Folder for what was there before., type: path, default: /var/lib/gpuprov/backups}
author: [gpuprov]
"""

RETURN = r"""
restarts: {description: Units that were restarted, type: list, returned: success}
notes: {description: Sentences about checks that could not be made, type: list, returned: success}
"""

import errno  # noqa: E402
import os  # noqa: E402
import shutil  # noqa: E402
import tempfile  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Set, Tuple  # noqa: E402, UP035 - of Python 3.8

from ansible.module_utils import gpuprov_record as record  # noqa: E402
from ansible.module_utils import gpuprov_toml as toml  # noqa: E402
from ansible.module_utils.basic import AnsibleModule  # noqa: E402

PLAIN = {"LC_ALL": "C.UTF-8", "LANGUAGE": "", "SYSTEMD_COLORS": "0"}
PROGRAM = "containerd"
RUNTIMES = ".containerd.runtimes."
Entries = Set[Tuple[str, str, str]]  # noqa: UP006 - evaluated, also by Python 3.8
"""Table, key and value of each line of a dump."""


class Failed(Exception):  # noqa: N818 - a reason, not an error of this program
    """Raised when containerd cannot be given the runtime; its files are as they were, or their restart failed."""

    def __init__(self, path: str, text: str, detail: str = "") -> None:
        super().__init__(text)
        self.path, self.text, self.detail = path, text, detail


def entries(dump: str) -> Entries:
    """What a dump says; where the files lie is no part of it."""
    found, table = set(), ""
    for line in (raw.strip() for raw in dump.splitlines()):
        if line.startswith("["):
            table = line
        elif " = " in line:
            key, _, value = line.partition(" = ")
            if key != "imports":
                found.add((table, key, value))
    return found


def plain(table: str) -> str:
    """A table's name without brackets and quotes, which releases of containerd write in different ways."""
    return table.strip("[]").replace('"', "").replace("'", "")


class Containerd:
    """One run of the module on one host."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.path = Path(module.params["path"])
        self.name, self.type, self.program = (module.params[key] for key in ("runtime", "type", "program"))
        self.notes: list[str] = []
        self.restarts: list[str] = []

    def bring(self) -> bool:
        """Have the runtime in the merged configuration; says whether that is a change.

        Raises:
            Failed: it cannot be had without losing something else.
        """
        if shutil.which(PROGRAM) is None:
            if not self.module.check_mode:
                raise Failed(str(self.path), f"{PROGRAM} is not installed")
            self.notes.append(f"{self.path} was not judged: {PROGRAM} is not installed")
            return True
        before = self._dump(self.path)
        if self._has(before):
            return False
        off = next((value for _, key, value in before if key == "disabled_plugins" and "cri" in value), "")
        if off:
            raise Failed(str(self.path), f"it switches off what serves Kubernetes (disabled_plugins = {off})")
        files = self._files()
        target, text = self._place(files, before)
        if not self.module.check_mode:
            self._write(target, text)
            self._restart()
        return True

    def remove(self) -> bool:
        """Take our lines away from all files; says whether that is a change."""
        marked = [path for path in self._files() if toml.BEGIN in path.read_text(errors="surrogateescape")]
        for path in marked if not self.module.check_mode else ():
            text = toml.without_block(path.read_text(errors="surrogateescape"))
            made = text.strip() == f"version = {toml.DEFAULT_VERSION}" and not self._backup_of(path).exists()
            if made:
                path.unlink()
                record.sync_folder(path.parent)
            else:
                self._write(path, text)
        if marked and not self.module.check_mode and shutil.which(PROGRAM):
            self._restart()
        return bool(marked)

    def _has(self, dump: Entries) -> bool:
        """Whether the merged configuration has the runtime with its type and program."""
        found = {(plain(table), key, value.strip("\"'")) for table, key, value in dump}
        ours = {table for table, _, _ in found if table.endswith(f"{RUNTIMES}{self.name}")}
        return any(
            {(name, "runtime_type", self.type), (f"{name}.options", "BinaryName", self.program)} <= found
            for name in ours
        )

    def _files(self) -> list[Path]:
        """The configuration and what it imports, in the order in which they are read."""
        if not self.path.exists():
            return []
        text = self.path.read_text(errors="surrogateescape")
        imported = []
        for pattern in toml.imports(text):
            absolute = pattern if pattern.startswith("/") else str(self.path.parent / pattern)
            imported += sorted(Path("/").glob(absolute.lstrip("/")))
        return [self.path, *imported]

    def _place(self, files: list[Path], before: Entries) -> tuple[Path, str]:
        """The file that our lines go to, and its new text: the first that keeps everything else as it is."""
        holders = [path for path in files[1:] if toml.names_plugin(path.read_text(errors="surrogateescape"))]
        reason = ""
        for target in (self.path, *reversed(holders)):
            text = target.read_text(errors="surrogateescape") if target.exists() else ""
            if toml.version(text) not in toml.VERSIONS and text.strip():
                raise Failed(str(target), f"gpuprov does not know version {toml.version(text)} of the configuration")
            try:
                new, after = self._tried(files, target, text, before)
            except Failed as failure:  # such as a table that is there already, with other lines
                reason = reason or failure.detail
                continue
            lost = sorted(f"{table} {key} = {value}" for table, key, value in before - after)
            if self._has(after) and not lost:
                return target, new
            reason = reason or (f"lost: {lost[0]}" if lost else "the runtime is not in what containerd reads")
        where = ", ".join(str(path) for path in files[1:])
        raise Failed(
            str(self.path),
            f"the runtime cannot be added beside what the imported files say ({where or 'none'})",
            reason,
        )

    def _tried(self, files: list[Path], target: Path, text: str, before: Entries) -> tuple[str, Entries]:
        """The new text of a file, with the runtimes that would be forgotten, and what containerd reads then."""
        new = toml.with_block(text, self.name, self.type, self.program)
        after = self._judge(files, target, new)
        forgotten = sorted(entry for entry in before - after if RUNTIMES in plain(entry[0]))
        if forgotten:
            lines: list[str] = []
            for table, key, value in forgotten:
                lines += [*([table] if table not in lines else []), f"  {key} = {value}"]
            new = toml.with_block(text, self.name, self.type, self.program, lines)
            after = self._judge(files, target, new)
        return new, after

    def _judge(self, files: list[Path], target: Path, new: str) -> Entries:
        """What containerd would read from all files, with one of them changed."""
        with tempfile.TemporaryDirectory(prefix="gpuprov-containerd-") as folder:
            copies = {path: Path(folder) / f"{number:03}.toml" for number, path in enumerate(files or [target])}
            for path, copy in copies.items():
                text = new if path == target else path.read_text(errors="surrogateescape")
                if path == self.path:
                    text = toml.with_imports(text, [str(other) for old, other in copies.items() if old != path])
                copy.write_text(text, errors="surrogateescape")
            return self._dump(copies[self.path])

    def _dump(self, path: Path) -> Entries:
        words = ["--config", str(path), "config", "dump"] if path.exists() else ["config", "default"]
        code, out, err = self.module.run_command([PROGRAM, *words], environ_update=PLAIN)
        if code:
            raise Failed(str(path), f"{PROGRAM} cannot read its configuration", (out + err).strip()[-2000:])
        return entries(out)

    def _write(self, path: Path, text: str) -> None:
        mode, owner, group = 0o644, 0, 0
        if path.exists():
            found, backup = path.stat(), self._backup_of(path)
            mode, owner, group = found.st_mode & 0o7777, found.st_uid, found.st_gid
            if not backup.exists() and toml.BEGIN not in path.read_text(errors="surrogateescape"):
                backup.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, backup)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.gpuprov-new")
        with new.open("w", errors="surrogateescape") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chown(new, owner, group)
        new.chmod(mode)
        new.replace(path)
        record.sync_folder(path.parent)

    def _backup_of(self, path: Path) -> Path:
        return Path(self.module.params["backups"]) / str(path).lstrip("/")

    def _restart(self) -> None:
        unit = self.module.params["unit"]
        code, out, err = self.module.run_command(["systemctl", "try-restart", unit], environ_update=PLAIN)
        if code:
            _, log, _ = self.module.run_command(
                ["journalctl", "-u", unit, "-n", "12", "--no-pager", "-o", "cat"], environ_update=PLAIN
            )
            raise Failed(unit, "it does not come up with its new configuration", f"{out + err}\n{log}".strip())
        self.restarts.append(unit)


def main() -> None:
    """Run as an Ansible module."""
    module = AnsibleModule(
        argument_spec={
            "runtime": {"type": "str", "default": ""},
            "type": {"type": "str", "default": "io.containerd.runc.v2"},
            "program": {"type": "path", "default": "/usr/bin/nvidia-container-runtime"},
            "path": {"type": "path", "default": "/etc/containerd/config.toml"},
            "unit": {"type": "str", "default": "containerd"},
            "backups": {"type": "path", "default": "/var/lib/gpuprov/backups"},
        },
        supports_check_mode=True,
    )
    containerd = Containerd(module)
    try:
        changed = containerd.bring() if containerd.name else containerd.remove()
    except Failed as failure:
        ours = {"reason": "file", "path": failure.path, "text": failure.text, "detail": failure.detail}
        module.fail_json(msg=f"{failure.path}: {failure.text}", gpuprov=ours)
    except OSError as error:
        reason = "space" if error.errno == errno.ENOSPC else "file"
        ours = {"reason": reason, "path": str(error.filename or ""), "text": str(error.strerror), "detail": ""}
        module.fail_json(msg=f"{error.filename}: {error.strerror}", gpuprov=ours)
    module.exit_json(changed=changed, restarts=containerd.restarts, notes=containerd.notes)


if __name__ == "__main__":
    main()
