"""The lock of a host: one run at a time changes it, from whatever machine, and whoever comes second is told who does.

On the host, a small process holds a lock of the kernel (`flock`) and reads from the run's own ssh connection. It ends
with that connection, with the host, or when nothing came for a while, so a run that was killed, or lost its network or
power, locks nobody out, and there is no file that would have to be deleted.
"""

import json
import shlex
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Final, Self

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Host
from gpuprov.model.progress import Progress, Report, ignore_progress
from gpuprov.rollout.reboot import Connect
from gpuprov.store.lock import Owner, describe_owner, has_ended, read_owner_text
from gpuprov.transport.pool import run_on_all
from gpuprov.transport.protocol import Held, Transport

PATH: Final = "/run/gpuprov-host.lock"
"""The file whose lock is held on the host; its text names the owner. It is gone after a boot, as the lock is."""
SILENCE: Final = 60.0
"""Seconds without a word from the run after which the host frees the lock: its machine lost its network or power."""
BEAT: Final = 15.0
"""Seconds between two words from the run."""
_COMMAND_SECONDS: Final = 60.0
_ATTEMPTS: Final = 5
_LOST_PAUSE: Final = 2.0
_PAUSE: Final = 0.2
"""Between taking the lock and naming its owner, and between a run's end and the end of its lock, lies a moment."""

# bash, for `read -t`; it is essential on Debian and Ubuntu, as flock's util-linux is.
_SCRIPT: Final = """\
umask 077
exec 9>>"$1" || exit 1
if ! flock -n 9; then printf 'busy %s\\n' "$(head -c 4096 "$1" | head -n 1)"; exit 0; fi
: >"$1"
printf '%s\\n' "$2" >&9
echo held
while read -r -t "$3" _; do :; done
: >"$1"
"""


class HostLocks:
    """The locks of the hosts of a batch; they end with it.

    Args:
        connect: how to reach a host; each lock has a connection of its own.
        owner: who changes the hosts.
        report: where it is told that a lock is waited for.
    """

    def __init__(self, connect: Connect, owner: Owner, report: Report = ignore_progress) -> None:
        self._connect = connect
        self._report = report
        self._owner = json.dumps(asdict(owner))
        self._held: dict[str, tuple[Transport, Held]] = {}
        self._guard = threading.Lock()
        self._stop = threading.Event()
        self._beats = threading.Thread(target=self._beat, name="gpuprov-host-locks", daemon=True)

    def __enter__(self) -> Self:
        """Begin to give signs of life."""
        self._beats.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Give all locks back."""
        self._stop.set()
        self._beats.join()
        for host in list(self._held):
            self._give_back(host)

    def take_all(self, hosts: Sequence[Host], *, width: int) -> dict[str, tuple[Diagnostic, ...]]:
        """Take the locks of hosts; returns why those that are missing could not be had.

        Args:
            hosts: which.
            width: so many at the same time.
        """

        def take(host: Host) -> tuple[Diagnostic, ...]:
            try:
                self.keep(host)
            except GpuprovError as error:
                return error.diagnostics
            return ()

        refused = run_on_all(hosts, take, limit=width)
        return {host.name: diagnostics for host, diagnostics in zip(hosts, refused, strict=True) if diagnostics}

    def take_again(self, host: Host) -> None:
        """Take a host's lock after a boot, which ended it whatever this side's connection still believes.

        Raises:
            GpuprovError: as `keep`.
        """
        self._give_back(host.name)
        self.keep(host)

    def keep(self, host: Host) -> None:
        """Have a host's lock: take it, or take it again where it was lost with its connection.

        Raises:
            GpuprovError: GP-RUN-011 naming the owner when another run has it; GP-SSH codes.
        """
        with self._guard:
            found = self._held.get(host.name)
        if found is not None and found[1].alive:
            return
        self._give_back(host.name)
        attempt, began = 0, time.monotonic()
        while True:
            transport = self._connect(host)
            try:
                held = transport.hold(_command(self._owner), timeout=_COMMAND_SECONDS, root=True)
            except BaseException:
                transport.close()
                raise
            if held.first == "held":
                with self._guard:
                    self._held[host.name] = (transport, held)
                return
            held.close()
            transport.close()
            owner = read_owner_text(held.first.removeprefix("busy "))
            attempt += 1
            # A run of this machine that lost its network and ended: the host finds that out after a while.
            waited = time.monotonic() - began
            lost = owner is not None and has_ended(owner) and waited < SILENCE + _COMMAND_SECONDS
            if attempt >= _ATTEMPTS and not lost:
                raise GpuprovError(_busy(host.name, owner))
            if attempt == _ATTEMPTS:
                text = f"a run that ended did not let go of the host: it does by itself within {SILENCE:.0f} s"
                self._report(Progress(phase="wait", subject=host.name, text=text))
            time.sleep(_PAUSE if attempt < _ATTEMPTS else _LOST_PAUSE)

    def _give_back(self, host: str) -> None:
        with self._guard:
            found = self._held.pop(host, None)
        if found is not None:
            transport, held = found
            # Where the connection is gone already, so is the lock.
            with suppress(GpuprovError, OSError, EOFError):
                held.close()
            transport.close()

    def _beat(self) -> None:
        while not self._stop.wait(BEAT):
            with self._guard:
                held = [held for _, held in self._held.values()]
            for each in held:
                # One whose connection is lost is found out and taken again by `keep`.
                with suppress(OSError, EOFError):
                    each.beat()


def _command(owner: str) -> str:
    return f"exec bash -c {shlex.join([_SCRIPT, 'gpuprov-host-lock', PATH, owner, str(SILENCE)])}"


def _busy(host: str, owner: Owner | None) -> Diagnostic:
    who, detail = describe_owner(owner)
    return Diagnostic(
        code="GP-RUN-011",
        address=host,
        summary=f"another run changes this host: {who}; it was left alone",
        detail=detail,
        hint="wait until that run ends; its lock ends with it, nothing has to be deleted",
    )
