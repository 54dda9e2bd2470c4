"""Connections along a route, by paramiko: sockets, jump hosts, host key checks."""

import socket
import subprocess
import threading
from contextlib import suppress

import paramiko

from gpuprov.transport.known_hosts import Entry, Verdict, entries_for, judge_key, order_algorithms, read_known_hosts
from gpuprov.transport.login import log_in
from gpuprov.transport.refusals import refuse_key, refuse_network, unreachable
from gpuprov.transport.route import Hop

_DEAD_AFTER = 30_000
"""Milliseconds after which the kernel gives up a connection whose packets nobody acknowledges."""

_jumps: dict[tuple[Hop, ...], paramiko.Transport] = {}
_jump_locks: dict[tuple[Hop, ...], threading.Lock] = {}
_jumps_guard = threading.Lock()
_proxies: list[subprocess.Popen[bytes]] = []
"""Programs of ProxyCommand; each ends when its connection does, and is then reaped."""


def open_route(route: tuple[Hop, ...], timeout: float | None) -> paramiko.Transport:
    """Connect and log in along a route; the connections to jump hosts are shared by all hosts behind them.

    Args:
        route: hops in order, the host itself last.
        timeout: seconds for each step instead of each hop's own.

    Raises:
        GpuprovError: GP-SSH-001 to GP-SSH-004.
    """
    if len(route) == 1:
        return _open_hop(route[0], None, timeout)
    return _open_hop(route[-1], _shared_jump(route[:-1], timeout), timeout)


def greets_behind(route: tuple[Hop, ...], address: str, port: int, seconds: float) -> bool:
    """Whether an ssh server greets at an address behind a jump host; see `gpuprov.transport.knock`.

    Args:
        route: hops to the jump host, itself last.
        address: as the jump host knows it.
        port: the server's.
        seconds: how long, for the connection and again for the greeting.

    Raises:
        GpuprovError: as `open_route`, for the jump host.
    """
    through = _shared_jump(route, None)
    try:
        channel = through.open_channel("direct-tcpip", (address, port), ("127.0.0.1", 0), timeout=seconds)
    except (paramiko.SSHException, EOFError, OSError):
        return False
    with channel:
        channel.settimeout(seconds)
        try:
            return channel.recv(4) == b"SSH-"
        except OSError:
            return False


def forget_jumps() -> None:
    """Close the connections to jump hosts."""
    with _jumps_guard:
        for client in _jumps.values():
            client.close()
        _jumps.clear()


def _shared_jump(route: tuple[Hop, ...], timeout: float | None) -> paramiko.Transport:
    # One connection to a jump host for all hosts behind it: sshd drops logins when many come at once (MaxStartups).
    with _jumps_guard:
        lock = _jump_locks.setdefault(route, threading.Lock())
    with lock:
        client = _jumps.get(route)
        if client is None or not client.is_active():
            client = open_route(route, timeout)
            with _jumps_guard:
                _jumps[route] = client
        return client


def _open_hop(hop: Hop, through: paramiko.Transport | None, timeout: float | None) -> paramiko.Transport:
    seconds = timeout if timeout is not None else hop.timeout
    link = _open_socket(hop, through, seconds)
    try:
        entries = read_known_hosts(hop.known_hosts)
    except OSError as error:
        raise unreachable(hop, f"known_hosts cannot be read: {error}", hint="let this user read that file") from error
    client = paramiko.Transport(link)
    try:
        client.banner_timeout = client.auth_timeout = client.handshake_timeout = seconds
        _greet(client, hop, entries, seconds)
        log_in(client, hop)
    except BaseException:
        client.close()
        raise
    client.set_keepalive(15)
    return client


def _greet(client: paramiko.Transport, hop: Hop, entries: list[Entry], seconds: float) -> None:
    options = client.get_security_options()
    options.key_types = order_algorithms(entries_for(entries, hop.known_as, hop.known_port), options.key_types)
    try:
        client.start_client(timeout=seconds)
        # start_client returns quietly when its time has passed; this call then says so.
        key = client.get_remote_server_key()
    except (paramiko.SSHException, EOFError, OSError) as error:
        raise unreachable(
            hop, f"{hop.address} port {hop.port} does not speak ssh with us: {error or 'the connection ended'}"
        ) from error
    judgement = judge_key(entries, hop.known_as, hop.known_port, key.asbytes())
    if judgement.verdict is not Verdict.KNOWN:
        raise refuse_key(hop, judgement, key.get_name(), key.asbytes())


def _open_socket(hop: Hop, through: paramiko.Transport | None, seconds: float) -> socket.socket | paramiko.Channel:
    if through is not None:
        try:
            return through.open_channel("direct-tcpip", (hop.address, hop.port), ("127.0.0.1", 0), timeout=seconds)
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise unreachable(
                hop,
                f"the jump host could not reach {hop.address} port {hop.port}: {error}",
                hint="does the host run, and may the jump host forward connections (AllowTcpForwarding)?",
            ) from error
    if hop.proxy_command is not None:
        ours, theirs = socket.socketpair()
        with theirs:
            # The user's own ssh configuration says so; the ssh client hands the text to a shell too.
            number = theirs.fileno()
            _proxies[:] = [p for p in _proxies if p.poll() is None]
            _proxies.append(
                subprocess.Popen(["/bin/sh", "-c", f"exec {hop.proxy_command}"], stdin=number, stdout=number)
            )
        return ours
    try:
        link = socket.create_connection((hop.address, hop.port), timeout=seconds)
    except (OSError, UnicodeError) as error:
        raise refuse_network(hop, error) from error
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with suppress(OSError, AttributeError):  # Linux only; elsewhere a dead host is found by the time limits.
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _DEAD_AFTER)
    return link
