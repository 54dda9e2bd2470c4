"""This machine as a host, without ssh."""

import os
import selectors
import signal
import subprocess
from contextlib import suppress

from gpuprov.model.host import Connection
from gpuprov.transport.conversation import hold_conversation, shorten
from gpuprov.transport.held import LONGEST, HeldCommand
from gpuprov.transport.placing import check_placed, placing_command
from gpuprov.transport.protocol import Outcome
from gpuprov.transport.shell import way_to_root, wrap_command

_PUT_TIMEOUT = 120.0


class LocalTransport:
    """This machine."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def host(self) -> str:
        """The host's name, as in the inventory."""
        return self._connection.host

    @property
    def alive(self) -> bool:
        """True: this machine is here."""
        return True

    def run(self, command: str, *, stdin: bytes = b"", timeout: float, root: bool = False) -> Outcome:
        """Run a POSIX shell command; see `Transport.run`."""
        become = way_to_root(self._connection) if root and os.geteuid() != 0 else None
        wrapped = wrap_command(command, timeout=timeout, become=become)
        process = _start(wrapped.text)
        with process:
            return hold_conversation(
                _ProcessPipes(process),
                wrapped,
                host=self.host,
                stdin=stdin,
                timeout=timeout,
                password=become.password if become else None,
                what=shorten(command),
            )

    def hold(self, command: str, *, timeout: float, root: bool = False) -> HeldCommand:
        """Start a command that stays; see `Transport.hold`."""
        become = way_to_root(self._connection) if root and os.geteuid() != 0 else None
        wrapped = wrap_command(command, timeout=LONGEST, become=become)
        return HeldCommand(
            _ProcessPipes(_start(wrapped.text)),
            wrapped,
            host=self.host,
            password=become.password if become else None,
            what=shorten(command),
            timeout=timeout,
        )

    def put(self, content: bytes, path: str, *, mode: int, root: bool = False) -> None:
        """Write a file atomically; see `Transport.put`."""
        outcome = self.run(placing_command(path, mode), stdin=content, timeout=_PUT_TIMEOUT, root=root)
        check_placed(outcome, path, self.host)

    def close(self) -> None:
        """Nothing to close."""


def _start(text: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["/bin/sh", "-c", text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )


class _ProcessPipes:
    """The streams of a process of this machine."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise ValueError("a process without pipes")
        self._process = process
        self._input, self._output, self._errors = process.stdin, process.stdout, process.stderr
        self._open = {self._output.fileno(), self._errors.fileno()}
        self._selector = selectors.DefaultSelector()
        for number in (*self._open, self._input.fileno()):
            os.set_blocking(number, False)
        for number in self._open:
            self._selector.register(number, selectors.EVENT_READ)

    def wait(self, seconds: float) -> None:
        if self._open:
            self._selector.select(seconds)
        else:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(min(seconds, 0.05))

    def read(self) -> tuple[bytes, bytes]:
        return self._take(self._output.fileno()), self._take(self._errors.fileno())

    def _take(self, number: int) -> bytes:
        data = bytearray()
        while number in self._open:
            try:
                part = os.read(number, 65536)
            except BlockingIOError:
                break
            if not part:
                self._open.discard(number)
                self._selector.unregister(number)
            data += part
        return bytes(data)

    def write(self, data: bytes) -> int:
        try:
            return os.write(self._input.fileno(), data)
        except BlockingIOError:
            return 0
        except (BrokenPipeError, ValueError):
            return len(data)  # The command closed its input; what it does not want is nobody's fault.

    def end_input(self) -> None:
        self._input.close()

    def status(self) -> int | None:
        code = self._process.poll()
        if code is None or self._open:
            return None
        return 128 - code if code < 0 else code

    def lost(self) -> str:
        return ""

    def kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):  # It may have ended, or run as root.
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        for stream in (self._input, self._output, self._errors):
            stream.close()
        with suppress(subprocess.TimeoutExpired):  # One that runs as root goes on.
            self._process.wait(1)
