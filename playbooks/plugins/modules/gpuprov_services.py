#!/usr/bin/python
"""Enable, start, stop and restart a list of systemd units in one task."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpuprov_services
short_description: Enable, start, stop and restart a list of systemd units in one task
description:
  - Looks at all units with one call and acts only where something differs.
  - A unit that needs the driver is only enabled while another driver is loaded than wanted, and that is said.
options:
  services:
    description: Units, each with name, active, enabled, gpu (needs the driver) and packages (whose change restarts it).
    type: list
    elements: dict
    default: []
  restart: {description: Names to restart where they run., type: list, elements: str, default: []}
  moved: {description: Packages that moved; units that name one restart., type: list, elements: str, default: []}
  start:
    description: Whether units are enabled and started as well; without it only what runs and has to restart is touched.
    type: bool
    default: true
  fresh: {description: Units that have just been started and need no restart., type: list, elements: str, default: []}
  driver: {description: Driver version that must be loaded; empty when none must., type: str, default: ""}
  settle: {description: Seconds in which a started unit must become active., type: float, default: 10}
author: [gpuprov]
"""

RETURN = r"""
changes: {description: Sentences about what was done, type: list, returned: success}
started: {description: Names of units that were started, type: list, returned: success}
deferred: {description: Units that wait for the reboot, type: list, returned: success}
"""

import re  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterable  # noqa: E402
from pathlib import Path  # noqa: E402

from ansible.module_utils.basic import AnsibleModule  # noqa: E402

PLAIN = {"LC_ALL": "C.UTF-8", "LANGUAGE": "", "SYSTEMD_COLORS": "0"}
PROPERTIES = ("Id", "LoadState", "ActiveState", "SubState", "UnitFileState", "NeedDaemonReload", "Type")
READY = {"notify", "forking", "oneshot", "dbus"}
"""Types of a unit that is "active" only once its program says so, or has ended well."""
LOOK_EVERY = 0.5
ENABLED = {"enabled", "enabled-runtime", "static", "alias", "generated", "indirect", "linked"}
_VERSION = re.compile(r"Kernel Module\s+(?:for \S+\s+)?(?P<version>\d+(?:\.\d+)+)")


class Failed(Exception):  # noqa: N818 - a reason, not an error of this program
    """Raised when a unit is not as wanted."""

    def __init__(self, unit: str, text: str, detail: str = "") -> None:
        super().__init__(text)
        self.unit, self.text, self.detail = unit, text, detail


def parse_show(text: str) -> dict[str, dict[str, str]]:
    """Read `systemctl show` of several units: blocks of NAME=VALUE lines."""
    units = {}
    for block in text.strip().split("\n\n"):
        rows = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        if "Id" in rows:
            units[rows["Id"].removesuffix(".service")] = rows
    return units


def parse_loaded(text: str) -> str:
    """The driver version in /proc/driver/nvidia/version; empty when it is not there."""
    found = _VERSION.search(text)
    return found["version"] if found else ""


def loaded_driver() -> str:
    """The driver version that the kernel has loaded; empty for none."""
    module, proc = Path("/sys/module/nvidia/version"), Path("/proc/driver/nvidia/version")
    if module.exists():
        return module.read_text().strip()
    return parse_loaded(proc.read_text()) if proc.exists() else ""


class Services:
    """One run of the module on one host."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.check = module.check_mode
        self.wanted = {row["name"].removesuffix(".service"): row for row in module.params["services"]}
        self.changes: list[str] = []
        self.begun: dict[str, str] = {}
        """Units that were started or restarted and have yet to stay up, with the word for it."""
        self.deferred: list[dict[str, str]] = []
        self.started: list[str] = []
        self.driver = module.params["driver"]
        self.loaded = loaded_driver()
        moved, fresh = set(module.params["moved"]), set(module.params["fresh"])
        by_package = {name for name, row in self.wanted.items() if moved & set(row["packages"])}
        self.restart = (by_package | set(module.params["restart"])) - fresh

    def systemctl(self, *words: str) -> tuple[int, str]:
        """Run systemctl; returns its status and what it said."""
        code, out, err = self.module.run_command(["systemctl", *words], environ_update=PLAIN)
        return code, out + err

    def show(self, names: Iterable[str]) -> dict[str, dict[str, str]]:
        """Look at units with one call.

        Raises:
            Failed: systemd does not answer.
        """
        units = [f"{name}.service" for name in names]
        if not units:
            return {}
        code, text = self.systemctl("show", f"--property={','.join(PROPERTIES)}", *units)
        if code:
            raise Failed("", "systemd does not answer", text)
        return parse_show(text)

    def apply(self) -> None:
        """Bring all units to their wanted state.

        Raises:
            Failed: one is not.
        """
        units = self.show(self.wanted)
        stale = [u for u in units.values() if u["NeedDaemonReload"] == "yes" or u["LoadState"] == "not-found"]
        if stale and not self.check:
            self.systemctl("daemon-reload")
            units = self.show(self.wanted)
        failures = []
        for name, row in self.wanted.items():
            try:
                # An alias (docker.socket's, dcgm's old name) answers under its own Id.
                self._bring(name, row, units.get(name) or self._alone(name))
            except Failed as failure:
                failures.append(failure)  # the others have to restart all the same: nobody does it later
        failures += self._settle()
        if failures:
            first, *more = failures
            others = [f"{failure.unit}: {failure.text}" for failure in more]
            raise Failed(first.unit, first.text, "\n".join([*others, first.detail]))

    def _bring(self, name: str, row: dict[str, object], unit: dict[str, str]) -> None:
        restarts = row["active"] and name in self.restart and unit["ActiveState"] not in {"inactive", "failed"}
        if not self.module.params["start"] and not restarts:
            return
        if unit["LoadState"] == "masked":
            raise Failed(name, "somebody masked it", f"systemctl unmask {name}")
        if unit["LoadState"] == "not-found" and not self.check and (row["active"] or row["enabled"]):
            raise Failed(name, "there is no such unit; its package is not installed, or named otherwise")
        if self.module.params["start"]:
            self._enable(name, unit, enabled=row["enabled"])
        if row["gpu"] and row["active"] and self.loaded != self.driver and not self.check:
            reason = (
                f"the loaded driver is {self.loaded or 'none'}, {name} needs {self.driver}: it waits for the reboot"
            )
            self.deferred.append({"name": name, "reason": reason})
        else:
            self._start(name, unit, active=row["active"])

    def _alone(self, name: str) -> dict[str, str]:
        _, text = self.systemctl("show", f"--property={','.join(PROPERTIES)}", f"{name}.service")
        found = parse_show(text)
        if not found:
            raise Failed(name, "systemd does not answer about it", text)
        return next(iter(found.values()))

    def _enable(self, name: str, unit: dict[str, str], *, enabled: bool) -> None:
        if (unit["UnitFileState"] in ENABLED) == enabled or (not enabled and unit["LoadState"] == "not-found"):
            return
        self.changes.append(f"{name} {'enabled' if enabled else 'disabled'}")
        if not self.check:
            code, text = self.systemctl("enable" if enabled else "disable", f"{name}.service")
            if code:
                raise Failed(name, f"it cannot be {'enabled' if enabled else 'disabled'}", text)

    def _start(self, name: str, unit: dict[str, str], *, active: bool) -> None:
        restart = active and name in self.restart and unit["ActiveState"] != "inactive"
        if (unit["ActiveState"] == "active") == active and not restart:
            return
        verb = "restart" if restart else "start" if active else "stop"
        word = {"restart": "restarted", "start": "started", "stop": "stopped"}[verb]
        if not self.check:
            if unit["ActiveState"] == "failed":
                self.systemctl("reset-failed", f"{name}.service")
            code, text = self.systemctl(verb, f"{name}.service")
            if code:
                raise self._failure(name, word, text)
        if active and not self.check:
            self.begun[name] = word
            return
        self.changes.append(f"{name} {word}")
        if active:
            self.started.append(name)

    def _settle(self) -> list[Failed]:
        """Wait until what was started stays up, all of it at once; gives what does not.

        Raises:
            Failed: systemd does not answer.
        """
        end = time.monotonic() + self.module.params["settle"]
        quiet = dict.fromkeys(self.begun, 0)
        down = []
        while quiet and time.monotonic() < end:
            units = self.show(quiet)
            for name in list(quiet):
                unit = units.get(name) or self._alone(name)
                # A simple unit is "active" before its program has had time to fail: two looks, half a second apart.
                quiet[name] = quiet[name] + 1 if unit["ActiveState"] == "active" else 0
                if unit["ActiveState"] == "failed":
                    down.append(name)
                    del quiet[name]
                elif quiet[name] > 1 or (quiet[name] and unit["Type"] in READY):
                    del quiet[name]
            if quiet:
                time.sleep(LOOK_EVERY)
        down += quiet
        up = [name for name in self.begun if name not in down]
        self.started += up
        self.changes += [f"{name} {self.begun[name]}" for name in up]
        return [self._failure(name, self.begun[name], "") for name in down]

    def _failure(self, name: str, word: str, said: str) -> Failed:
        """Say that a unit did not come up, with the end of its log."""
        _, log, _ = self.module.run_command(
            ["journalctl", "-u", name, "-n", "12", "--no-pager", "-o", "cat"], environ_update=PLAIN
        )
        return Failed(name, f"it cannot be {word}", f"{said.strip()}\n{log.strip()}".strip())


def main() -> None:
    """Run as an Ansible module."""
    row = {
        "name": {"type": "str", "required": True},
        "active": {"type": "bool", "default": True},
        "enabled": {"type": "bool", "default": True},
        "gpu": {"type": "bool", "default": False},
        "packages": {"type": "list", "elements": "str", "default": []},
    }
    names = {"type": "list", "elements": "str", "default": []}
    module = AnsibleModule(
        argument_spec={
            "services": {"type": "list", "elements": "dict", "default": [], "options": row},
            "restart": names,
            "moved": names,
            "fresh": names,
            "start": {"type": "bool", "default": True},
            "driver": {"type": "str", "default": ""},
            "settle": {"type": "float", "default": 10},
        },
        supports_check_mode=True,
    )
    try:
        services = Services(module)
        services.apply()
    except Failed as failure:
        module.fail_json(
            msg=f"{failure.unit}: {failure.text}",
            gpuprov={"reason": "service", "unit": failure.unit, "text": failure.text, "detail": failure.detail},
        )
    module.exit_json(
        changed=bool(services.changes),
        changes=services.changes,
        started=services.started,
        deferred=services.deferred,
    )


if __name__ == "__main__":
    main()
