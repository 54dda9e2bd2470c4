"""A host behind an ssh connection: run commands in channels, put files."""

import select
import time
from contextlib import suppress

import paramiko

from gpuprov.model.host import Connection
from gpuprov.transport.conversation import connection_lost, hold_conversation, shorten
from gpuprov.transport.held import LONGEST, HeldCommand
from gpuprov.transport.placing import check_placed, placing_command
from gpuprov.transport.protocol import Outcome
from gpuprov.transport.shell import way_to_root, wrap_command

_PUT_TIMEOUT = 120.0


class SshTransport:
    """A host behind an ssh connection."""

    def __init__(self, connection: Connection, client: paramiko.Transport) -> None:
        self._connection = connection
        self._client = client
        self._is_root: bool | None = None

    @property
    def host(self) -> str:
        """The host's name, as in the inventory."""
        return self._connection.host

    @property
    def alive(self) -> bool:
        """Whether the connection still stands, as far as this side knows."""
        return bool(self._client.is_active())

    def run(self, command: str, *, stdin: bytes = b"", timeout: float, root: bool = False) -> Outcome:
        """Run a POSIX shell command; see `Transport.run`."""
        become = way_to_root(self._connection) if root and not self._logged_in_as_root() else None
        wrapped = wrap_command(command, timeout=timeout, become=become)
        return hold_conversation(
            _ChannelPipes(self._open_channel(wrapped.text), self._client),
            wrapped,
            host=self.host,
            stdin=stdin,
            timeout=timeout,
            password=become.password if become else None,
            what=shorten(command),
        )

    def hold(self, command: str, *, timeout: float, root: bool = False) -> HeldCommand:
        """Start a command that stays; see `Transport.hold`."""
        become = way_to_root(self._connection) if root and not self._logged_in_as_root() else None
        wrapped = wrap_command(command, timeout=LONGEST, become=become)
        return HeldCommand(
            _ChannelPipes(self._open_channel(wrapped.text), self._client),
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
        """Close the connection."""
        self._client.close()

    def _logged_in_as_root(self) -> bool:
        if self._is_root is None:
            self._is_root = self.run("id -u", timeout=20).stdout.strip() == b"0"
        return self._is_root

    def _open_channel(self, text: str) -> paramiko.Channel:
        try:
            channel = self._client.open_session(timeout=20)
            channel.exec_command(text)
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise connection_lost(
                self.host, str(error) or "it ended", detail="when a command was to be started"
            ) from error
        channel.setblocking(0)
        return channel


class _ChannelPipes:
    """The streams of a command in an ssh channel."""

    def __init__(self, channel: paramiko.Channel, client: paramiko.Transport) -> None:
        self._channel = channel
        self._client = client
        self._poll = select.poll()
        self._poll.register(channel.fileno(), select.POLLIN)

    def wait(self, seconds: float) -> None:
        if self._channel.eof_received or self._channel.closed:
            self._channel.status_event.wait(min(seconds, 0.1))
        else:
            self._poll.poll(seconds * 1000)

    def read(self) -> tuple[bytes, bytes]:
        out, err = bytearray(), bytearray()
        while self._channel.recv_ready():
            out += self._channel.recv(65536)
        while self._channel.recv_stderr_ready():
            err += self._channel.recv_stderr(65536)
        return bytes(out), bytes(err)

    def write(self, data: bytes) -> int:
        try:
            return self._channel.send(data)
        except TimeoutError:
            return 0  # The window is full.
        except OSError:
            return len(data)  # The command closed its input; what it does not want is nobody's fault.

    def end_input(self) -> None:
        with suppress(OSError, EOFError):  # The command may have ended meanwhile.
            self._channel.shutdown_write()

    def status(self) -> int | None:
        ready = self._channel.status_event.is_set() and self._channel.exit_status >= 0
        if not ready:
            return None
        # The status may overtake the last output; the end of the streams cannot.
        if not (self._channel.eof_received or self._channel.closed):
            return None
        return int(self._channel.exit_status)

    def lost(self) -> str:
        if not self._client.is_active():
            return str(self._client.get_exception() or "") or "it ended"  # an EOFError has no text
        if self._channel.closed and not self._channel.status_event.is_set():
            time.sleep(0.05)
        if self._channel.closed and self._channel.exit_status < 0:
            return "the host ended the session without a status (its process was killed)"
        return ""

    def kill(self) -> None:
        with suppress(OSError, EOFError):  # It may be gone already.
            self._channel.close()
