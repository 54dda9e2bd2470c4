#!/usr/bin/python
"""Bring kernel settings into force in one task, and put back what was there before."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpuprov_tuning
short_description: Bring kernel settings into force
description:
  - Writes a setting only where another value is in force, looks whether the kernel took it, and writes down what was
    there before.
  - What the kernel refuses is told by name; the other settings are brought into force all the same.
  - Tries every limit in a process of its own before it is written to a file. A login for which pam_limits cannot set
    a limit is refused, and that would be every login.
options:
  settings: {description: "Settings, each with key and value.", type: list, elements: dict, default: []}
  restore: {description: Settings that become again what they were., type: list, elements: str, default: []}
  limits: {description: "Limits of sessions, each with item and value.", type: list, elements: dict, default: []}
  stop: {description: Units of ours that are stopped and disabled., type: list, elements: str, default: []}
  record: {description: Path of the record., type: str, default: /var/lib/gpuprov/tuning.json}
  root: {description: Where the kernel shows its settings., type: str, default: /proc/sys}
author: [gpuprov]
"""

RETURN = r"""
changes: {description: Sentences about what changed, type: list, returned: success}
"""

import os  # noqa: E402
import resource  # noqa: E402
from pathlib import Path  # noqa: E402

from ansible.module_utils import gpuprov_record as record  # noqa: E402
from ansible.module_utils.basic import AnsibleModule  # noqa: E402

PLAIN = {"LC_ALL": "C.UTF-8", "LANGUAGE": "", "SYSTEMD_COLORS": "0"}
RLIMITS = {
    "as": (resource.RLIMIT_AS, 1024),
    "core": (resource.RLIMIT_CORE, 1024),
    "cpu": (resource.RLIMIT_CPU, 60),
    "data": (resource.RLIMIT_DATA, 1024),
    "fsize": (resource.RLIMIT_FSIZE, 1024),
    "memlock": (resource.RLIMIT_MEMLOCK, 1024),
    "msgqueue": (resource.RLIMIT_MSGQUEUE, 1),
    "nofile": (resource.RLIMIT_NOFILE, 1),
    "nproc": (resource.RLIMIT_NPROC, 1),
    "rss": (resource.RLIMIT_RSS, 1024),
    "rtprio": (resource.RLIMIT_RTPRIO, 1),
    "sigpending": (resource.RLIMIT_SIGPENDING, 1),
    "stack": (resource.RLIMIT_STACK, 1024),
}
"""Items of limits.conf(5) that are limits of the kernel, and their units; the others are pam_limits' own."""


class Settings:
    """One run of the module on one host."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.check = module.check_mode
        self.changes: list[str] = []
        self.refused: dict[str, str] = {}
        """Setting -> why it is not as wanted."""
        self.path = Path(module.params["record"])
        self.record = dict(record.read_json(self.path, dict))

    def apply(self) -> None:
        """Put back, set, and stop."""
        for key in self.module.params["restore"]:
            if key in self.record:
                self.bring(key, str(self.record[key]))
            if key not in self.refused:
                self.record.pop(key, None)
                self._write()
        for row in self.module.params["settings"]:
            self.bring(row["key"], row["value"], keep=True)
        for row in self.module.params["limits"]:
            self.try_limit(row["item"], row["value"])
        for unit in self.module.params["stop"]:
            self.stop(unit)

    def try_limit(self, item: str, value: str) -> None:
        """Set a limit in a child, as pam_limits will; nothing else gets it."""
        if item not in RLIMITS:
            return
        limit, unit = RLIMITS[item]
        number = resource.RLIM_INFINITY if value == "unlimited" else int(value) * unit
        child = os.fork()
        if child == 0:
            try:
                resource.setrlimit(limit, (number, number))
            except (OSError, ValueError):
                os._exit(1)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            self.refused[item] = f"the kernel refuses a limit of {value}, and nobody could log in any more"

    def bring(self, key: str, value: str, *, keep: bool = False) -> None:
        """Set one setting; with `keep`, what was there before is written down first."""
        place = Path(self.module.params["root"]) / key.replace(".", "/")
        ours = False
        try:
            now = _words(place.read_text())
            if now == _words(value):
                return
            self.changes.append(f"{key} {now} -> {value}")
            if self.check:
                return
            if keep and key not in self.record:
                self.record[key] = now
                self._write()
                ours = True
            place.write_text(f"{value}\n")
            after = _words(place.read_text())
        except OSError as error:
            if ours:  # nothing was changed: there is nothing to put back
                del self.record[key]
                self._write()
            self.refused[key] = f"the kernel refuses {value}: {error.strerror}"
            return
        if after != _words(value):
            self.refused[key] = f"the kernel made {after or 'nothing'} of {value}"

    def stop(self, unit: str) -> None:
        """Stop a unit of ours, whose own stop gives back what it set."""
        code, out, _ = self.module.run_command(["systemctl", "is-active", unit], environ_update=PLAIN)
        enabled, _, _ = self.module.run_command(["systemctl", "is-enabled", unit], environ_update=PLAIN)
        if code and enabled:
            return
        self.changes.append(f"{unit} stopped ({out.strip()} before)")
        if not self.check:
            code, out, err = self.module.run_command(["systemctl", "disable", "--now", unit], environ_update=PLAIN)
            if code:
                self.refused[unit] = f"it cannot be stopped: {(out + err).strip()[-500:]}"

    def _write(self) -> None:
        if not self.check and (self.record or self.path.exists()):
            record.write_json(self.path, self.record)


def _words(text: str) -> str:
    return " ".join(text.split())


def main() -> None:
    """Run as an Ansible module."""
    row = {"key": {"type": "str", "required": True, "no_log": False}, "value": {"type": "str", "required": True}}
    limit = {"item": {"type": "str", "required": True}, "value": {"type": "str", "required": True}}
    names = {"type": "list", "elements": "str", "default": []}
    module = AnsibleModule(
        argument_spec={
            "settings": {"type": "list", "elements": "dict", "default": [], "options": row},
            "restore": names,
            "limits": {"type": "list", "elements": "dict", "default": [], "options": limit},
            "stop": names,
            "record": {"type": "str", "default": "/var/lib/gpuprov/tuning.json"},
            "root": {"type": "str", "default": "/proc/sys"},
        },
        supports_check_mode=True,
    )
    try:
        settings = Settings(module)
        settings.apply()
    except record.Broken as error:
        ours = {"reason": "record", "path": str(error.path), "text": error.text, "detail": ""}
        module.fail_json(msg=str(error), gpuprov=ours)
    if settings.refused:
        first = next(iter(settings.refused))
        lines = [f"{key}: {why}" for key, why in settings.refused.items()]
        ours = {"reason": "setting", "path": first, "text": settings.refused[first], "detail": "\n".join(lines)}
        module.fail_json(msg=lines[0], gpuprov=ours, changes=settings.changes)
    module.exit_json(changed=bool(settings.changes), changes=settings.changes)


if __name__ == "__main__":
    main()
