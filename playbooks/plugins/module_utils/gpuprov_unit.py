"""Package transactions as transient systemd units, so that neither a lost controller nor a lost ssh ends dpkg half-way.

Owns: gpuprov-transaction-<id>.service and /var/lib/gpuprov/transactions/<id>/.
Takes: a request and the commands to run.
Gives: the unit's exit status and log, also of a unit that an earlier run started.
Must not: kill a process, or remove a lock file.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import struct
import time
from pathlib import Path

from ansible.module_utils.gpuprov_record import write_text

FOLDER = Path("/var/lib/gpuprov/transactions")
PREFIX = "gpuprov-transaction-"
KEEP = 10
"""So many transactions stay on the host for people to read."""
LOCKS = ("/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock")
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "",
    "HOME": "/root",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "DEBIAN_FRONTEND": "noninteractive",
    "DEBIAN_PRIORITY": "critical",
    "UCF_FORCE_CONFFOLD": "1",
    "APT_LISTCHANGES_FRONTEND": "none",
    # Restarts are gpuprov's own and in its plan.
    "NEEDRESTART_SUSPEND": "1",
}
TURN = Path("/run/gpuprov-packages.lock")
ENDED = ("exited", "failed", "dead")
"""States of a unit that has ended; in any other one its processes may still be at work."""
ASK_EVERY = 3.0
"""Seconds between two questions to systemd for a unit that is waited for: its result file tells more cheaply."""
PATIENCE = 60.0
"""Seconds in which systemd must answer again: it does not for a while when it or dbus is upgraded itself."""
_FLOCK = "hhqqi4x"


class NoAnswer(Exception):  # noqa: N818 - a reason, shown to people
    """Raised when systemd does not say which units there are; nothing may be concluded from that."""


class Units:
    """The transactions of this host.

    Args:
        run: runs an argument list and returns (status, stdout, stderr).
        folder: where requests, logs and results lie.
        patience: seconds in which systemd must answer.
        ask_every: seconds between two questions to systemd while a unit is waited for.
    """

    def __init__(self, run, folder: Path = FOLDER, patience: float = PATIENCE, ask_every: float = ASK_EVERY) -> None:  # noqa: ANN001 - run_command's form
        self._run = run
        self._folder = folder
        self._patience = patience
        self._ask_every = ask_every
        self._asked: dict[str, float] = {}

    def running(self) -> list[str]:
        """Units of gpuprov that still run.

        Raises:
            NoAnswer: systemd does not say.
        """
        return [unit for unit, state in self._list() if state not in ENDED]

    def tidy(self) -> None:
        """Unload units that have ended, and delete the oldest transactions."""
        for unit, state in self._list():
            if state in ENDED:
                self._run(["systemctl", "stop", unit])
                self._run(["systemctl", "reset-failed", unit])
        if not self._folder.is_dir():
            return
        folders = sorted((path for path in self._folder.iterdir() if path.is_dir()), key=lambda p: p.stat().st_mtime)
        for old in folders[:-KEEP]:
            shutil.rmtree(old)

    def wait(self, timeout: float) -> str:
        """Wait until no unit of gpuprov runs; returns the name of one that still does when time is over."""
        end = time.monotonic() + timeout
        while True:
            units = self.running()
            if not units:
                return ""
            if time.monotonic() >= end:
                return units[0]
            time.sleep(0.5)

    def start(self, identity: str, request: dict[str, object], commands: list[list[str]]) -> tuple[int, str]:
        """Write the transaction down and start its unit; returns systemd-run's status and message."""
        folder = self._folder / identity
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        (folder / "result.json").unlink(missing_ok=True)
        write_text(folder / "request.json", json.dumps(request, indent=1, sort_keys=True) + "\n", 0o600)
        write_text(folder / "run.sh", script(folder, commands), 0o600)
        argv = ["systemd-run", f"--unit={PREFIX}{identity}", "--remain-after-exit", "--quiet", "--no-ask-password"]
        argv += [f"--description=gpuprov package transaction {identity}", "/bin/sh", str(folder / "run.sh")]
        status, out, err = self._run(argv)
        return status, (err or out).strip()

    def result(self, identity: str) -> int | None:
        """The exit status of a transaction; None while it runs, 255 when it ended without saying how.

        It is asked for often: dpkg works for a minute, and each question to systemd takes time from it.
        """
        path = self._folder / identity / "result.json"
        if path.exists():
            return int(json.loads(path.read_text())["status"])
        now = time.monotonic()
        if now - self._asked.get(identity, -self._ask_every) < self._ask_every:
            return None
        self._asked[identity] = now
        if f"{PREFIX}{identity}.service" in self.running():
            return None
        # The unit may have ended between the two looks.
        return int(json.loads(path.read_text())["status"]) if path.exists() else 255

    def log(self, identity: str) -> str:
        """Everything that the transaction printed."""
        path = self._folder / identity / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def _list(self) -> list[tuple[str, str]]:
        argv = ["systemctl", "list-units", "--all", "--plain", "--no-legend", "--type=service", f"{PREFIX}*"]
        end = time.monotonic() + self._patience
        while True:
            status, out, err = self._run(argv)
            if status == 0:
                break
            if time.monotonic() >= end:
                raise NoAnswer((err or out).strip() or f"systemctl ended with status {status}")
            time.sleep(1)
        rows = [line.split() for line in out.splitlines()]
        return [(row[0], row[3]) for row in rows if len(row) > 3]  # noqa: PLR2004 - UNIT LOAD ACTIVE SUB


def script(folder: Path, commands: list[list[str]]) -> str:
    """The unit's script: runs the commands in order, stops at the first that fails, writes result.json itself."""
    lines = [
        "#!/bin/sh",
        "# Written by gpuprov; it runs once.",
        "umask 022",
        f"cd {shlex.quote(str(folder))} || exit 1",
        "exec >>log 2>&1 </dev/null",
        *(f"export {name}={shlex.quote(value)}" for name, value in ENVIRONMENT.items()),
        "finish() {",
        '  printf \'{"status": %d, "ended": %d}\\n\' "$1" "$(date +%s)" >result.json.new',
        "  mv -f result.json.new result.json",
        '  exit "$1"',
        "}",
    ]
    for argv in commands:
        words = shlex.join(argv)
        lines += [f"echo {shlex.quote('+ ' + words)}", f"{words} || finish $?"]
    return "\n".join([*lines, "finish 0", ""])


def lock_holder() -> tuple[int, str] | None:
    """Process id and command line of who holds dpkg's lock; None when nobody does."""
    for path in LOCKS:
        if not Path(path).exists():
            continue
        with Path(path).open("rb+") as handle:
            asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(handle, fcntl.F_GETLK, asked))
        if kind != fcntl.F_UNLCK:
            return pid, _command(pid)
    return None


def take_turn(timeout: float, path: Path = TURN):  # noqa: ANN201 - a file, or None
    """Wait for this module's turn on the host: the module of a lost controller may still be at work.

    Returns:
        The open file, whose end gives the turn back; None when time is over.
    """
    handle = path.open("w")
    end = time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                handle.close()
                return None
            time.sleep(0.5)
        else:
            return handle


def wait_for_lock(timeout: float) -> tuple[int, str] | None:
    """Wait until dpkg's lock is free; returns its holder when time is over."""
    end = time.monotonic() + timeout
    while True:
        holder = lock_holder()
        if holder is None or time.monotonic() >= end:
            return holder
        time.sleep(1)


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "unknown"
    return b" ".join(words).decode(errors="replace").strip()[:200] or "unknown"
