"""One command's life, over any pipes: answer sudo, feed its input, gather its output, keep its time."""

import time
from typing import Protocol

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.transport.protocol import Outcome
from gpuprov.transport.shell import Wrapped, explain_refusal

GRACE = 2.0
"""Seconds that the host's own time limit gets to end the command before the pipes are cut."""
SUDO_PATIENCE = 30.0
"""Seconds that sudo may take; PAM delays a wrong password by a few."""
TIMED_OUT = 124
"""The status of timeout(1) for a command that it ended."""
_AGAIN = "run the same command again: it looks at the host anew; if it is lost again, see whether the host is up"
_BUSY = "see on the host what keeps it busy (`uptime`, `dmesg`), then run the same command again"


class Pipes(Protocol):
    """A running command's streams; no call blocks except `wait`."""

    def wait(self, seconds: float) -> None:
        """Return when something may have happened, at the latest after so many seconds."""

    def read(self) -> tuple[bytes, bytes]:
        """What came on standard output and standard error since the last call."""

    def write(self, data: bytes) -> int:
        """Give input; returns how many bytes were taken, 0 when none can be taken now."""

    def end_input(self) -> None:
        """Close the command's input."""

    def status(self) -> int | None:
        """The exit status once the command ended and all its output was read; None before."""

    def lost(self) -> str:
        """Why nothing more will come although the command has not ended; empty while it may."""

    def kill(self) -> None:
        """Cut the pipes, and end the command where that is possible."""


def hold_conversation(
    pipes: Pipes, wrapped: Wrapped, *, host: str, stdin: bytes, timeout: float, password: str | None, what: str
) -> Outcome:
    """Carry a command to its end.

    Args:
        pipes: of the command that was just started.
        wrapped: how it was started.
        host: for messages.
        stdin: the command's own input; it is sent only once the command itself runs, never to sudo.
        timeout: seconds.
        password: for sudo; sent only when sudo asks.
        what: the command, shortened, for messages.

    Raises:
        GpuprovError: GP-SSH-005, GP-SSH-006 or GP-SSH-007; GP-SSH-002 when the login shell did not run the command.
    """
    talk = Talk(pipes, wrapped, stdin, password)
    start = time.monotonic()
    try:
        while (status := pipes.status()) is None:
            seconds = time.monotonic() - start
            talk.step()
            if (
                error := trouble(talk, pipes, wrapped, host=host, what=what, seconds=seconds, timeout=timeout)
            ) is not None:
                raise error  # noqa: TRY301 - the handler must cut the pipes for every way out
            pipes.wait(0.02 if talk.blocked else min(1.0, timeout + GRACE - seconds + 0.01))
    except BaseException:
        pipes.kill()
        raise
    talk.gather()
    seconds = time.monotonic() - start
    if not talk.started:
        raise not_started(host, talk.error_text(), status, sudo=" sudo " in wrapped.text)
    if status == TIMED_OUT and seconds >= timeout:
        raise _timed_out(host, what, timeout)
    return Outcome(status=status, stdout=talk.stdout(), stderr=talk.stderr(), seconds=seconds)


def trouble(
    talk: "Talk", pipes: Pipes, wrapped: Wrapped, *, host: str, what: str, seconds: float, timeout: float
) -> GpuprovError | None:
    """Why it makes no sense to wait any longer; None while it does."""
    if talk.asked_again:
        return _sudo(host, "Sorry, try again", 1)
    if reason := pipes.lost():
        return connection_lost(host, reason, detail=f"during: {what}")
    if seconds > timeout + GRACE:
        return _timed_out(host, what, timeout)
    if not talk.started and wrapped.prompt and seconds > SUDO_PATIENCE:
        return _error("GP-SSH-005", host, f"sudo did not answer within {SUDO_PATIENCE:.0f} s")
    return None


class Talk:
    """What was said so far.

    Args:
        pipes: of the command that was just started.
        wrapped: how it was started.
        stdin: the command's own input.
        password: for sudo.
        stays: whether the command's input stays open.
    """

    def __init__(
        self, pipes: Pipes, wrapped: Wrapped, stdin: bytes, password: str | None, *, stays: bool = False
    ) -> None:
        self._pipes = pipes
        self._wrapped = wrapped
        self._password = password
        self._out = bytearray()
        self._err = bytearray()
        self._answers = 0
        self._queue = bytearray()
        self._stdin = memoryview(stdin)
        self._ended = stays  # then the input is never ended from here
        self.started = False
        self.blocked = False

    @property
    def asked_again(self) -> bool:
        """Whether sudo asked once more after it had its answer: the password is wrong."""
        return self._answers > 1

    def step(self) -> None:
        """Take what came, give what can be given."""
        self.gather()
        if not self.started and self._wrapped.prompt and self._err.count(self._wrapped.prompt) > self._answers:
            self._answers += 1
            if self._answers == 1 and self._password is not None:
                self._queue += self._password.encode() + b"\n"
        self._send()

    def gather(self) -> None:
        """Take what came."""
        out, err = self._pipes.read()
        self._out += out
        self._err += err
        self.started = self.started or self._wrapped.mark in self._err

    def _send(self) -> None:
        self.blocked = False
        if self._queue:
            taken = self._pipes.write(bytes(self._queue))
            del self._queue[:taken]
            self.blocked = bool(self._queue)
        elif self.started and not self._ended:
            while self._stdin:
                taken = self._pipes.write(bytes(self._stdin[:32768]))
                self._stdin = self._stdin[taken:]
                if not taken:
                    self.blocked = True
                    return
            self._pipes.end_input()
            self._ended = True

    def stdout(self) -> bytes:
        """The command's own standard output."""
        return bytes(self._out).partition(self._wrapped.mark)[2]

    def stderr(self) -> bytes:
        """The command's own standard error."""
        return bytes(self._err).partition(self._wrapped.mark)[2]

    def error_text(self) -> str:
        """All that came on both streams, for a command that never started."""
        text = bytes(self._err + self._out)
        if self._wrapped.prompt:
            text = text.replace(self._wrapped.prompt, b"")
        return text.decode("utf-8", "replace").strip()


def _error(code: str, host: str, summary: str, *, detail: str = "", hint: str = "") -> GpuprovError:
    return GpuprovError(Diagnostic(code=code, address=host, summary=summary, detail=detail, hint=hint))


def connection_lost(host: str, reason: str, *, detail: str) -> GpuprovError:
    """GP-SSH-007 for a connection that ended before its command did, or before one could be started."""
    return _error("GP-SSH-007", host, f"the connection was lost: {reason}", detail=detail, hint=_AGAIN)


def _timed_out(host: str, what: str, timeout: float) -> GpuprovError:
    summary = f"a command did not end within {timeout:g} s"
    return _error("GP-SSH-006", host, summary, detail=f"command: {what}", hint=_BUSY)


def _sudo(host: str, text: str, status: int) -> GpuprovError:
    refusal = explain_refusal(text, status)
    return _error("GP-SSH-005", host, refusal.summary, detail=text, hint=refusal.hint)


def not_started(host: str, text: str, status: int, *, sudo: bool) -> GpuprovError:
    """Why a command did not begin: sudo's refusal, or the login shell's."""
    if sudo:
        return _sudo(host, text, status)
    return _error(
        "GP-SSH-002",
        host,
        f"the login works, but the user's shell did not run the command (status {status})",
        detail=text,
        hint="give the user a POSIX login shell on the host, or name another user",
    )


def shorten(command: str) -> str:
    """The first line of a command, at most 80 characters, for messages."""
    lines = command.strip().splitlines() or [""]
    text = lines[0]
    return text if len(lines) == 1 and len(text) <= 80 else text[:76] + " ..."  # noqa: PLR2004 - as documented
