"""The user's own commands that take work off a host and give the host back; they run on this machine."""

import os
import signal
import subprocess
import tempfile
import threading
import time
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Host

_BACK_SECONDS: Final = 300.0
_POLL_SECONDS: Final = 0.2
_SHOWN_LINES: Final = 12


class CommandDrain:
    """One host, drained and given back by commands of the spec.

    Args:
        host: the host; its name is in the commands' `GPUPROV_HOST`.
        command: ends with 0 when no work is left on the host.
        back: ends with 0 when the host may get work again.
        wait: seconds that `command` may take.
        cancel: ends `command`.
    """

    def __init__(self, host: Host, *, command: str, back: str, wait: float, cancel: threading.Event) -> None:
        self._host, self._command, self._back, self._wait, self._cancel = host, command, back, wait, cancel

    def take(self) -> str:
        """Run the command; it waits for the work itself. When it fails, the other one undoes what it began."""
        try:
            self._run(self._command, "drain.command", seconds=self._wait, cancel=self._cancel)
        except GpuprovError:
            self.give()
            raise
        return ""

    def busy(self) -> str:
        """Nothing: the command has ended only when the host was free."""
        return ""

    def give(self) -> str:
        """Run the other command; Ctrl-C does not end it, for a host that stays drained helps nobody."""
        self._run(self._back, "drain.back", seconds=_BACK_SECONDS, cancel=threading.Event())
        return ""

    def _run(self, command: str, field: str, *, seconds: float, cancel: threading.Event) -> None:
        started = time.monotonic()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                ["/bin/sh", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "GPUPROV_HOST": self._host.name},
                start_new_session=True,
            )
            with process:
                while process.poll() is None:
                    late = time.monotonic() - started > seconds
                    if late or cancel.is_set():
                        os.killpg(process.pid, signal.SIGKILL)
                        process.wait()
                        raise GpuprovError(self._unfinished(field, seconds) if late else interrupted(self._host.name))
                    cancel.wait(_POLL_SECONDS)
            if process.returncode != 0:
                output.seek(0)
                said = output.read().decode(errors="replace").strip().splitlines()
                raise GpuprovError(
                    Diagnostic(
                        code="GP-ROLL-007",
                        address=self._host.name,
                        summary=f"`{field}` of the spec ended with status {process.returncode}: {command}",
                        detail="\n".join(said[-_SHOWN_LINES:]),
                        hint=f"try it on this machine with GPUPROV_HOST={self._host.name}",
                    )
                )

    def _unfinished(self, field: str, seconds: float) -> Diagnostic:
        return Diagnostic(
            code="GP-ROLL-005",
            address=self._host.name,
            summary=f"`{field}` of the spec did not end within {seconds:.0f} s",
            hint="give it longer with `drain: {wait: ...}`, or look for what keeps the host busy",
        )


def interrupted(host: str) -> Diagnostic:
    """What an interruption before a host was touched says."""
    return Diagnostic(
        code="GP-RUN-003",
        address=host,
        summary="interrupted before the host was touched; it gets work again",
        hint="run the same command again",
    )
