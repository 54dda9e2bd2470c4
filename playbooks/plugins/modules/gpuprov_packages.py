#!/usr/bin/python
"""Bring packages to exact versions in one apt transaction that is simulated, judged and then run as a systemd unit."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpuprov_packages
short_description: Bring packages to exact versions in one judged apt transaction
description:
  - Compares with dpkg first; with nothing to do, neither apt-get nor the network is touched.
  - Simulates the transaction in an apt root of its own and refuses when it would do more than asked,
    or would fetch another file than the lock names.
  - Runs it as a transient systemd unit, which a lost controller does not end.
options:
  install:
    description: Packages and the exact version of each.
    type: list
    elements: dict
    default: []
    suboptions:
      name: {description: Package name., type: str, required: true}
      version: {description: Exact version., type: str, required: true}
      arch: {description: Architecture of the file; empty for any., type: str, default: ""}
      sha256: {description: Digest of the file; empty where none is known., type: str, default: ""}
      needed: {description: Whether it is never removed by gpuprov., type: bool, default: false}
  remove: {description: Packages to remove whatever their version., type: list, elements: str, default: []}
  take_over: {description: Those of `remove` that somebody else installed., type: list, elements: str, default: []}
  uninstall: {description: Uninstaller of a driver from a .run file; runs before packages come., type: str, default: ""}
  hold: {description: Packages to hold., type: list, elements: str, default: []}
  release: {description: Packages whose hold is taken away., type: list, elements: str, default: []}
  sources:
    description: The apt sources to use beside the host's own, each with path, text, key_path and key_text.
    type: list
    elements: dict
    default: []
  pins: {description: Text of the apt preferences for the owned packages., type: str, default: ""}
  allow_downgrades: {description: Whether the plan has a downgrade., type: bool, default: false}
  lists_refresh: {description: Whether package lists may be fetched., type: bool, default: true}
  lock_timeout: {description: Seconds to wait for dpkg's lock., type: int, default: 600}
  timeout: {description: Seconds to wait for the transaction; it is never killed., type: int, default: 3600}
  rollback: {description: What a rollback will need and is kept here; empty keeps nothing., type: dict, default: {}}
author: [gpuprov]
"""

RETURN = r"""
packages: {description: Packages of the plan that moved, type: list, returned: success}
others: {description: Other packages that rose or came new, type: list, returned: success}
notes: {description: Sentences worth telling, type: list, returned: success}
rollback: {description: Old packages by name - kept or to fetch or lost, type: dict, returned: check mode}
kept: {description: Packages not removed since gpuprov did not install them, type: list, returned: success}
seconds: {description: How long it took, type: float, returned: always}
judged_only: {description: Whether the transaction was judged and not run, type: bool, returned: always}
"""

import hashlib  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

from ansible.module_utils import gpuprov_apt as apt  # noqa: E402
from ansible.module_utils import gpuprov_record as record  # noqa: E402
from ansible.module_utils import gpuprov_runfile as runfile  # noqa: E402
from ansible.module_utils.basic import AnsibleModule  # noqa: E402
from ansible.module_utils.gpuprov_rollback import Keeper, Refused  # noqa: E402
from ansible.module_utils.gpuprov_root import AptRoot  # noqa: E402
from ansible.module_utils.gpuprov_unit import NoAnswer, Units, lock_holder, take_turn, wait_for_lock  # noqa: E402

INSTALLED = Path("/var/lib/gpuprov/installed.json")
"""Names of packages that gpuprov brought; only these are ever removed."""
OWNED = Path("/var/lib/gpuprov/owned.json")
"""The record of what is owned; the last role writes it whole."""
LOCALE = {"LC_ALL": "C.UTF-8", "LANGUAGE": "", "DEBIAN_FRONTEND": "noninteractive"}
UPDATE_ATTEMPTS = 3


class Failed(Exception):  # noqa: N818 - a reason, not an error of this program
    """Raised when the host cannot be brought to the plan.

    Args:
        reason: a word that the controller translates: transaction, lock, refresh, simulate, plan, digest, space, apt,
            broken, record, systemd, verify, rollback.
        text: one sentence.
        detail: log lines or names.
        removed: packages that apt would remove beside the plan.
    """

    def __init__(self, reason: str, text: str, detail: str = "", removed: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.reason, self.text, self.detail, self.removed = reason, text, detail, removed


class Transaction:
    """One run of the module on one host."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.params = module.params
        self.units = Units(self.run)
        self.root = AptRoot()
        self.keeper = Keeper(self.params["rollback"], self.run, self.root)
        self.native = self.run(["dpkg", "--print-architecture"])[1].strip()
        self.brought = set(record.read_json(INSTALLED, list))
        owned = record.read_json(OWNED, dict)  # a broken one is told before anything is done
        self.complete = str(owned.get("want", ""))
        wanted = {row["name"]: row["version"] for row in self.params["install"]}
        # A package that was there before gpuprov came only loses its hold, unless it is taken over.
        goes = self.brought | set(self.params["take_over"])
        self.kept = sorted(set(self.params["remove"]) - goes - set(wanted))
        self.plan = apt.Plan(
            install=wanted,
            remove=tuple(n for n in self.params["remove"] if n in goes and n not in wanted),
            hold=tuple(self.params["hold"]),
            release=tuple(n for n in (*self.params["release"], *self.kept) if n not in self.params["hold"]),
        )
        self.files = {
            row["name"]: apt.File(row["version"], row["arch"], row["sha256"])
            for row in self.params["install"]
            if row["sha256"]
        }
        self.status: dict[str, apt.Installed] = {}
        self.turn: object = None

    def run(self, argv: list[str], data: str | None = None) -> tuple[int, str, str]:
        """Run a program with a fixed locale; bytes that are no UTF-8 are replaced."""
        return self.module.run_command(argv, data=data, environ_update=LOCALE, errors="replace")

    def apply(self) -> dict[str, object]:
        """Bring the host to the plan; returns the module's result.

        Raises:
            Failed: it cannot be done; before the unit has started the host is as it was.
        """
        todo, broken = self.look()
        kept = [name for name in self.kept if name in self.status and self.status[name].present]
        result: dict[str, object] = {"packages": [], "others": [], "kept": kept, "repaired": [], "notes": []}
        stays = [name for name in todo.release if name not in kept]
        if stays:
            result["notes"] = [apt.stay_note(stays)]
        if not todo.anything and not broken and not self.units.running():
            if not self.module.check_mode:
                self.keeper.begin(self.complete)
            return {**result, "changed": False}
        if self.module.check_mode:
            foreseen = self.foresee(todo, broken)
            notes = [*result["notes"], *foreseen.pop("notes", [])]
            return {**result, **foreseen, "notes": notes, "changed": todo.anything or bool(broken)}
        before = self.status
        self.wait()
        todo, broken = self.look()
        if broken:
            self.repair()
            result["repaired"] = list(broken)
            todo, _ = self.look()
        verdict = self.simulate(todo) if todo.apt else apt.Verdict()
        self.keeper.secure(verdict.planned)
        self.keeper.begin(self.complete)
        if todo.anything:
            self.remember(todo)
            if todo.apt:
                self.transact(todo, verdict)
            self.hold()
        if todo.anything or broken:
            self.verify()
            self.keeper.finish()
        # What a repair or the transaction of a lost run moved counts too: services restart by it.
        moves = apt.moves(before, self.status)
        owned = {*self.plan.install, *self.plan.remove}
        result["packages"] = [step.as_dict() for step in moves if step.name in owned]
        result["others"] = [step.as_dict() for step in moves if step.name not in owned]
        return {**result, "changed": todo.anything or bool(broken) or bool(moves)}

    def foresee(self, todo: apt.Todo, broken: tuple[str, ...]) -> dict[str, object]:
        """Say what would be done; apt can simulate only on a package system that is whole."""
        if broken:
            steps = apt.unsimulated(todo, self.status)
            note = "the package system is broken: its repair comes first, and what follows cannot be simulated before"
            return {"packages": [s.as_dict() for s in steps], "repaired": list(broken), "notes": [note]}
        with self.root.aside():
            verdict = self.simulate(todo) if todo.apt else apt.Verdict()
            rollback = self.keeper.look(verdict.planned)
        return {
            **verdict.need,
            "packages": [step.as_dict() for step in verdict.planned],
            "others": [step.as_dict() for step in verdict.others],
            "rollback": rollback,
        }

    def look(self) -> tuple[apt.Todo, tuple[str, ...]]:
        """Read dpkg's status: what is to do, and what an interrupted dpkg left behind."""
        code, out, err = self.run(["dpkg-query", "-W", f"-f={apt.QUERY_FORMAT}"])
        if code:
            raise Failed("broken", "dpkg's status cannot be read", err)
        self.status = apt.parse_status(out, self.native)
        broken = apt.broken_packages(self.status)
        updates = Path("/var/lib/dpkg/updates")
        if not broken and updates.is_dir() and any(path.name.isdigit() for path in updates.iterdir()):
            broken = ("dpkg's journal",)
        return apt.compare(self.plan, self.status), broken

    def wait(self) -> None:
        """Wait for what an earlier run left at work here, then for dpkg's lock."""
        self.turn = take_turn(self.params["timeout"])
        if self.turn is None:
            text = f"the package step of an earlier run still works after {self.params['timeout']} s; it was left alone"
            raise Failed("transaction", text)
        unit = self.units.wait(self.params["timeout"])
        if unit:
            raise Failed("transaction", f"{unit} still runs after {self.params['timeout']} s; it was left alone")
        self.units.tidy()
        holder = wait_for_lock(self.params["lock_timeout"])
        if holder is not None:
            pid, command = holder
            text = f"process {pid} ({command}) holds dpkg's lock for more than {self.params['lock_timeout']} s"
            raise Failed("lock", text)

    def repair(self) -> None:
        """Finish what an interrupted dpkg left: configure, and where that is not enough let apt complete it.

        Raises:
            Failed: apt cannot complete it, or would remove a package that the plan does not remove.
        """
        again = self.keeper.unpack_again(self.plan.install, self.status)
        self.unit({"repair": int(time.time())}, [*again, ["dpkg", "--configure", "-a", "--force-confold"]])
        _, broken = self.look()
        if not broken:
            return
        out = self.ask_apt(self.fix(*self.root.announcing))
        steps = self.announced(out)
        refused = apt.refused_repairs(steps, self.plan)
        if refused:
            text = f"the repair of the package system would remove {', '.join(refused)}"
            raise Failed("plan", text, apt.last_lines(out))
        self.refuse_other_files(steps, out)
        code, log = self.unit({"complete": int(time.time())}, [self.fix()])
        if code:
            raise Failed("apt", f"the repair of the package system ended with status {code}", apt.last_lines(log))

    def simulate(self, todo: apt.Todo) -> apt.Verdict:
        """Simulate and judge the transaction, with fresh lists where the lists at hand do not do.

        Raises:
            Failed: apt finds no way, or a way that is not the plan, or the disk is too small.
        """
        out = self.ask_apt(self.apt_get(todo, *self.root.announcing))
        steps = self.announced(out)
        verdict = apt.judge(self.plan, self.status, steps, self.downgrades(steps))
        if verdict.violations:
            text = f"apt would do more than the plan says: {'; '.join(verdict.violations[:5])}"
            raise Failed("plan", text, "\n".join(verdict.violations), verdict.removed)
        self.refuse_other_files(steps, out)
        short = self.root.short_of(out)
        if short:
            raise Failed("space", short)
        return apt.with_need(verdict, out)

    def announced(self, out: str) -> tuple[apt.Step, ...]:
        """What apt would do, by what it printed.

        Raises:
            Failed: it cannot be understood.
        """
        try:
            return apt.parse_announced(out, self.native, self.status)
        except ValueError as error:
            raise Failed("simulate", f"apt's answer is not understood: {error}", apt.last_lines(out)) from error

    def refuse_other_files(self, steps: tuple[apt.Step, ...], out: str) -> None:
        """Compare the files that apt would fetch with those that the lock names.

        Raises:
            Failed: apt would install another file under the name and version of a locked one.
        """
        wrong = apt.wrong_files(self.files, steps, apt.parse_uris(out))
        if wrong:
            text = f"apt would install other files than the lock names: {'; '.join(wrong[:3])}"
            raise Failed("digest", text, "\n".join(wrong))

    def ask_apt(self, argv: list[str]) -> str:
        """Ask apt in the private root what it would do; returns what it printed.

        Raises:
            Failed: apt finds no way, with fresh lists either.
        """
        local, missing = self.keeper.local(apt.compare(self.plan, self.status).install)
        # What is kept here in full needs no other source: it may be gone, or have withdrawn the release.
        sources = [] if local and not missing else self.params["sources"]
        self.root.write(sources, self.params["pins"], local)
        if sources or local:
            self.refresh(self.root.update_ours, missing)
        code, out, err = self.run(argv)
        if code and apt.LISTS_TOO_OLD.search(out + err):
            self.refresh(self.root.update)
            code, out, err = self.run(argv)
        if code:
            text = f"apt finds no way to the locked versions{apt.first_conflict(out)}"
            raise Failed("simulate", text, apt.reasons(out + err))
        return out

    def refresh(self, options: list[str], missing: list[str] | tuple[str, ...] = ()) -> None:
        """Fetch package lists into the private root, for packages that the host does not keep itself."""
        if not self.params["lists_refresh"]:
            return
        argv = ["apt-get", "update", "-q", "-o", "APT::Update::Error-Mode=any", *options]
        for attempt in range(UPDATE_ATTEMPTS):
            code, out, err = self.run(argv)
            if not code:
                return
            time.sleep(2 * attempt)
        needed = f"\nnot kept on the host: {', '.join(missing[:5])}" if missing else ""
        raise Failed("refresh", "the package lists cannot be fetched", apt.last_lines(out + err) + needed)

    def downgrades(self, steps: tuple[apt.Step, ...]) -> set[str]:
        """Names of the steps that go down; dpkg orders the versions."""
        moved = [step for step in steps if step.before and step.after]
        return {
            s.name for s in moved if self.run(["dpkg", "--compare-versions", str(s.after), "lt", str(s.before)])[0] == 0
        }

    def apt_get(self, todo: apt.Todo, *words: str) -> list[str]:
        """The apt-get call that leads to the plan."""
        downgrades = ["--allow-downgrades"] if self.params["allow_downgrades"] else []
        return [*self._call(*words), *downgrades, *apt.install_words(self.plan, todo)]

    def fix(self, *words: str) -> list[str]:
        """The apt-get call that completes what was left half done; apt does that only when it is given no package."""
        # On the way back the version that completes a package may be the older one.
        downgrades = ["--allow-downgrades"] if self.keeper.restore else []
        return [*self._call("--fix-broken", *words), *downgrades]

    def _call(self, *words: str) -> list[str]:
        argv = ["apt-get", "install", *words, *apt.OPTIONS, *self.root.options]
        return [*argv, "-o", f"DPkg::Lock::Timeout={self.params['lock_timeout']}"]

    def remember(self, todo: apt.Todo) -> None:
        """Write down beforehand what becomes gpuprov's own, so that a run that is killed leaves no orphan."""
        stay = {row["name"] for row in self.params["install"] if row["needed"]}
        there = {name for name, package in self.status.items() if package.present}
        fresh = {name for name in todo.install if name not in there | stay}
        if not fresh <= self.brought:
            self.brought |= fresh
            record.write_json(INSTALLED, sorted(self.brought))
        owned = record.read_json(OWNED, dict)
        packages = {**owned.get("packages", {}), **self.plan.install}
        if self.plan.install and packages != owned.get("packages"):
            record.write_json(OWNED, {**owned, "packages": packages})

    def transact(self, todo: apt.Todo, verdict: apt.Verdict) -> None:
        """Fetch the files, keep them, and run the transaction in its unit; old lists are fetched again once.

        Raises:
            Failed: it failed or did not end in time.
        """
        request: dict[str, object] = {
            "install": self.plan.install,
            "remove": list(todo.remove),
            "hold": list(self.plan.hold),
            "release": list(self.plan.release),
        }
        before = runfile.commands(self.params["uninstall"], self.apt_get(todo, "--download-only"))
        commands = [*before, self.apt_get(todo), ["apt-get", "clean", *self.root.options]]
        code, log = self.fetch(todo, verdict) or self.unit(request, commands)
        if code and "Failed to fetch" in log and self.params["lists_refresh"]:
            self.refresh(self.root.update)
            self.units.tidy()
            # Fresh lists may lead elsewhere: nothing runs that was not judged.
            _, broken = self.look()
            if broken:
                raise Failed("apt", "the package transaction could not fetch all files", apt.last_lines(log))
            verdict = self.simulate(todo)
            code, log = self.fetch(todo, verdict) or self.unit(request, commands)
        if code:
            raise Failed("apt", runfile.blame(self.params["uninstall"], code, log), apt.last_lines(log))

    def fetch(self, todo: apt.Todo, verdict: apt.Verdict) -> tuple[int, str] | None:
        """Fetch all files before dpkg begins, and keep them; apt's status and log where it could not."""
        if not self.keeper.active:
            return None
        code, out, err = self.run(self.apt_get(todo, "--download-only"))
        if code:
            return code, out + err
        self.keeper.keep(verdict.planned, self.root.root / "cache" / "archives")
        return None

    def unit(self, request: dict[str, object], commands: list[list[str]]) -> tuple[int, str]:
        """Run commands in a unit named by the request's digest and wait for its end.

        Raises:
            Failed: systemd does not start it, or it did not end in time; it is left running then.
        """
        identity = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:12]
        before = len(self.units.log(identity))
        code, message = self.units.start(identity, request, commands)
        if code:
            raise Failed("apt", "systemd does not start the package transaction", message)
        end = time.monotonic() + self.params["timeout"]
        while (status := self.units.result(identity)) is None:
            if time.monotonic() >= end:
                raise Failed(
                    "transaction",
                    f"the package transaction {identity} did not end within {self.params['timeout']} s; it goes on",
                    apt.last_lines(self.units.log(identity)),
                )
            time.sleep(0.3)
        log = self.units.log(identity)[before:]
        if status == 0:
            self.units.tidy()
        return status, log

    def hold(self) -> None:
        """Set and release holds, in dpkg's own selections as apt-mark does."""
        todo, _ = self.look()
        rows = [f"{name} hold\n" for name in todo.hold if name in self.status]
        rows += [f"{name} install\n" for name in todo.release]
        end = time.monotonic() + self.params["lock_timeout"]
        while rows:
            code, out, err = self.run(["dpkg", "--set-selections"], data="".join(rows))
            if not code:
                return
            # dpkg, unlike apt, does not wait for its lock.
            if "locked by another process" not in out + err or time.monotonic() >= end:
                raise Failed("broken", "dpkg does not take the holds", out + err)
            time.sleep(1)

    def verify(self) -> None:
        """Read dpkg's status again.

        Raises:
            Failed: a package of the plan is not as planned.
        """
        todo, broken = self.look()
        wrong = [f"{name} is not {version}" for name, version in todo.install.items()]
        wrong += [f"{name} is still there" for name in todo.remove]
        wrong += [f"{name} is not held" for name in todo.hold] + [f"{name} is still held" for name in todo.release]
        wrong += [f"{name} is half installed" for name in broken]
        if wrong:
            raise Failed("verify", f"after the transaction: {'; '.join(wrong[:5])}", "\n".join(wrong))


def _as_failed(error: Failed | Refused | record.Broken | NoAnswer) -> Failed:
    """One form for what the module's parts raise."""
    if isinstance(error, record.Broken):
        return Failed("record", error.text)
    if isinstance(error, Refused):
        return Failed(error.reason, error.text, error.detail)
    if isinstance(error, NoAnswer):
        return Failed("systemd", "systemd does not say whether a package transaction runs", str(error))
    return error


def main() -> None:
    """Run as an Ansible module."""
    names = {"type": "list", "elements": "str", "default": []}
    must, text = {"type": "str", "required": True}, {"type": "str", "default": ""}
    row = {"name": must, "version": must, "arch": text, "sha256": text, "needed": {"type": "bool", "default": False}}
    module = AnsibleModule(
        argument_spec={
            "install": {"type": "list", "elements": "dict", "default": [], "options": row},
            "remove": names,
            "take_over": names,
            "uninstall": text,
            "hold": names,
            "release": names,
            "sources": {"type": "list", "elements": "dict", "default": [], "no_log": False},
            "pins": text,
            "allow_downgrades": {"type": "bool", "default": False},
            "lists_refresh": {"type": "bool", "default": True},
            "lock_timeout": {"type": "int", "default": 600},
            "timeout": {"type": "int", "default": 3600},
            "rollback": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    start = time.monotonic()
    try:
        result = Transaction(module).apply()
    except (Failed, Refused, record.Broken, NoAnswer) as error:
        failure = _as_failed(error)
        holder = lock_holder() if failure.reason == "apt" else None
        module.fail_json(
            msg=failure.text,
            gpuprov={
                "reason": failure.reason,
                "text": failure.text,
                "detail": failure.detail,
                "path": str(error.path) if isinstance(error, record.Broken) else "",
                "removed": list(failure.removed),
                "holder": f"process {holder[0]} ({holder[1]})" if holder else "",
            },
            seconds=round(time.monotonic() - start, 1),
        )
    module.exit_json(**result, seconds=round(time.monotonic() - start, 1), judged_only=module.check_mode)


if __name__ == "__main__":
    main()
