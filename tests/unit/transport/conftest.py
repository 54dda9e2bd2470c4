"""An ssh server in threads of the test itself: paramiko's server side, on a free port of the loopback."""

import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import paramiko
import pytest

from gpuprov.model.host import Become, Connection
from gpuprov.transport.link import forget_jumps


@dataclass
class Rules:
    """What the server accepts, and how it misbehaves."""

    keys: list[paramiko.PKey] = field(default_factory=list)
    password: str | None = None
    more_keys: list[paramiko.PKey] = field(default_factory=list)
    """Host keys beside the server's first."""
    max_tries: int = 100
    path: str = os.environ["PATH"]
    shell: list[str] = field(default_factory=lambda: ["/bin/sh", "-c"])
    cut_commands: bool = False
    """End the whole connection as soon as a command begins."""
    no_status: bool = False
    """End the session without an exit status, as when its process is killed."""
    work: list[threading.Thread] = field(default_factory=list)
    """One for each command that was started; they are waited for."""


class _Login(paramiko.ServerInterface):
    def __init__(self, rules: Rules, transport: paramiko.Transport) -> None:
        self.rules = rules
        self.transport = transport
        self.tries = 0
        self.targets: dict[int, tuple[str, int]] = {}
        self.commands: dict[int, bytes] = {}

    def get_allowed_auths(self, username: str) -> str:
        return "publickey,password" if self.rules.password else "publickey"

    def _judge(self, *, right: bool) -> int:
        self.tries += 1
        if right:
            return paramiko.AUTH_SUCCESSFUL
        if self.tries >= self.rules.max_tries:
            self.transport.close()
        return paramiko.AUTH_FAILED

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        right = username == "op" and any(key.asbytes() == k.asbytes() for k in self.rules.keys)
        return self._judge(right=right)

    def check_auth_password(self, username: str, password: str) -> int:
        return self._judge(right=self.rules.password is not None and password == self.rules.password)

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return paramiko.OPEN_SUCCEEDED if kind == "session" else paramiko.OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED

    def check_channel_direct_tcpip_request(
        self, chanid: int, origin: tuple[str, int], destination: tuple[str, int]
    ) -> int:
        self.targets[chanid] = destination
        return paramiko.OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        if self.rules.cut_commands:
            self.transport.close()
            return True
        self.rules.work.append(threading.Thread(target=_execute, args=(channel, command, self.rules), daemon=True))
        self.rules.work[-1].start()
        return True


def _execute(channel: paramiko.Channel, command: bytes, rules: Rules) -> None:
    environment = {"PATH": rules.path, "HOME": "/nonexistent", "LANGUAGE": "de_DE", "LC_ALL": "de_DE.UTF-8"}
    process = subprocess.Popen(
        [*rules.shell, command.decode()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )

    def feed() -> None:
        with suppress(OSError):
            while data := channel.recv(65536):
                process.stdin.write(data)
                process.stdin.flush()
        with suppress(OSError):
            process.stdin.close()

    def drain(stream: object, send: Callable[[bytes], None]) -> None:
        with suppress(OSError):
            while data := os.read(stream.fileno(), 65536):
                send(data)

    pumps = [
        threading.Thread(target=feed, daemon=True),
        threading.Thread(target=drain, args=(process.stdout, channel.sendall), daemon=True),
        threading.Thread(target=drain, args=(process.stderr, channel.sendall_stderr), daemon=True),
    ]
    for pump in pumps:
        pump.start()
    for pump in pumps[1:]:
        pump.join()
    status = process.wait()
    process.stdout.close()
    process.stderr.close()
    with suppress(OSError, EOFError):
        if not rules.no_status:
            channel.send_exit_status(status if status >= 0 else 128 - status)
        channel.close()
    pumps[0].join()


@dataclass
class Server:
    """A running server."""

    port: int
    host_key: paramiko.PKey
    rules: Rules
    logins: list[paramiko.Transport]
    listener: socket.socket
    forwarded: list[tuple[str, int]]

    def line(self, name: str | None = None) -> str:
        """The known_hosts line of the server."""
        name = name or f"[127.0.0.1]:{self.port}"
        return f"{name} {self.host_key.get_name()} {self.host_key.get_base64()}\n"


def _serve(server: Server) -> None:
    while True:
        try:
            link, _ = server.listener.accept()
        except OSError:
            return
        transport = paramiko.Transport(link)
        for key in (server.host_key, *server.rules.more_keys):
            transport.add_server_key(key)
        login = _Login(server.rules, transport)
        server.logins.append(transport)
        with suppress(paramiko.SSHException, EOFError, OSError):
            transport.start_server(event=threading.Event(), server=login)
        threading.Thread(target=_forward, args=(transport, login, server), daemon=True).start()


def _forward(transport: paramiko.Transport, login: _Login, server: Server) -> None:
    while transport.is_active():
        channel = transport.accept(0.2)
        if channel is None or channel.chanid not in login.targets:
            continue
        target = login.targets[channel.chanid]
        server.forwarded.append(target)
        link = socket.create_connection(target)
        for source, sink in ((channel, link), (link, channel)):
            threading.Thread(target=_copy, args=(source, sink), daemon=True).start()


def _copy(source: object, sink: object) -> None:
    with suppress(OSError, EOFError):
        while data := source.recv(65536):
            sink.sendall(data)
    with suppress(OSError, EOFError):
        sink.close()
    with suppress(OSError, EOFError):
        source.close()


@pytest.fixture
def start_server() -> Iterator[Callable[..., Server]]:
    """Start any number of servers; they end with the test."""
    servers: list[Server] = []

    def start(host_key: paramiko.PKey | None = None, **rules: object) -> Server:
        listener = socket.create_server(("127.0.0.1", 0))
        server = Server(
            port=listener.getsockname()[1],
            host_key=host_key or paramiko.ECDSAKey.generate(),
            rules=Rules(**rules),
            logins=[],
            listener=listener,
            forwarded=[],
        )
        servers.append(server)
        threading.Thread(target=_serve, args=(server,), daemon=True).start()
        return server

    yield start
    forget_jumps()
    for server in servers:
        # shutdown wakes the thread that waits in accept; close alone does not.
        with suppress(OSError):
            server.listener.shutdown(socket.SHUT_RDWR)
        server.listener.close()
        for transport in server.logins:
            transport.close()
    for server in servers:
        for thread in (*server.logins, *server.rules.work):
            thread.join(10)


@dataclass
class Client:
    """What a user has: a key file, a known_hosts file, an ssh configuration."""

    folder: Path
    key: paramiko.PKey
    key_file: Path
    known_hosts: Path
    config: Path

    def connection(self, server: Server, **fields: object) -> Connection:
        """The connection to a server, with this user's files."""
        given: dict[str, object] = {
            "host": "node",
            "address": "127.0.0.1",
            "port": server.port,
            "user": "op",
            "key_file": str(self.key_file),
            "known_hosts": (str(self.known_hosts),),
            "ssh_config": str(self.config),
            "use_agent": False,
            "connect_timeout": 5.0,
            "become": Become(),
        }
        return Connection(**(given | fields))

    def knows(self, *servers: Server) -> None:
        """Write known_hosts."""
        self.known_hosts.write_text("".join(s.line() for s in servers))


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """A user with one key, which servers do not know yet."""
    key = paramiko.ECDSAKey.generate()
    key_file = tmp_path / "id_test"
    key.write_private_key_file(str(key_file))
    config = tmp_path / "config"
    config.write_text("")
    return Client(folder=tmp_path, key=key, key_file=key_file, known_hosts=tmp_path / "known_hosts", config=config)
