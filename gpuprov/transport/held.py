"""A command that stays: it runs on a host for as long as this side holds its input open, and ends with it.

Nothing has to be ended on the host afterwards. When this process dies, however it dies, its sockets and pipes close,
the command reads the end of its input, and what it held is free.
"""

import threading
import time
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.transport.conversation import Pipes, Talk, not_started, trouble
from gpuprov.transport.shell import Wrapped

LONGEST: Final = 30 * 86400.0
"""Seconds after which the host ends a held command by itself; it ends with its input, long before."""
_POLL_SECONDS: Final = 0.5
_END_SECONDS: Final = 2.0
"""How long `close` waits for the command to end by the end of its input."""


class HeldCommand:
    """A running command that has printed its first line; calls may come from several threads.

    Args:
        pipes: of the command that was just started.
        wrapped: how it was started.
        host: for messages.
        password: for sudo; sent only when sudo asks.
        what: the command, shortened, for messages.
        timeout: seconds in which the first line must come.

    Raises:
        GpuprovError: as `Transport.run`; GP-SSH-007 also when the command ends without a line.
    """

    def __init__(
        self, pipes: Pipes, wrapped: Wrapped, *, host: str, password: str | None, what: str, timeout: float
    ) -> None:
        self._pipes = pipes
        self._guard = threading.Lock()
        self._talk = Talk(pipes, wrapped, b"", password, stays=True)
        start = time.monotonic()
        try:
            while b"\n" not in self._talk.stdout():
                status = pipes.status()
                self._talk.step()
                if b"\n" in self._talk.stdout():
                    break
                if status is not None:
                    raise self._ended(wrapped, host=host, what=what, status=status)  # noqa: TRY301 - pipes are cut below
                seconds = time.monotonic() - start
                error = trouble(self._talk, pipes, wrapped, host=host, what=what, seconds=seconds, timeout=timeout)
                if error is not None:
                    raise error  # noqa: TRY301
                pipes.wait(_POLL_SECONDS)
        except BaseException:
            pipes.kill()
            raise
        self.first = self._talk.stdout().partition(b"\n")[0].decode("utf-8", "replace")
        """The first line that the command printed."""

    @property
    def alive(self) -> bool:
        """Whether the command still runs, as far as this side knows."""
        with self._guard:
            self._talk.gather()
            return self._pipes.status() is None and not self._pipes.lost()

    def beat(self) -> None:
        """Give the command an empty line: this side lives."""
        with self._guard:
            self._pipes.write(b"\n")

    def close(self) -> None:
        """End the command's input, and wait a moment for the command to end by that."""
        with self._guard:
            self._pipes.end_input()
            deadline = time.monotonic() + _END_SECONDS
            while self._pipes.status() is None and not self._pipes.lost() and time.monotonic() < deadline:
                self._talk.gather()
                self._pipes.wait(_POLL_SECONDS / 10)
            self._pipes.kill()

    def _ended(self, wrapped: Wrapped, *, host: str, what: str, status: int) -> GpuprovError:
        if not self._talk.started:
            return not_started(host, self._talk.error_text(), status, sudo=" sudo " in wrapped.text)
        summary = f"a command that was to stay ended with status {status}"
        detail = f"command: {what}\n{self._talk.stderr().decode('utf-8', 'replace')}".strip()
        hint = "run the same command again; if it ends so again, try the command by hand on the host"
        return GpuprovError(Diagnostic(code="GP-SSH-007", address=host, summary=summary, detail=detail, hint=hint))
