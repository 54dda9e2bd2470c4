"""The keys that a server shows, by paramiko's own server on the loopback."""

import socket
import threading
from collections.abc import Iterator

import paramiko
import pytest

from gpuprov.transport.offered import offered_keys


class _Nobody(paramiko.ServerInterface):
    """Lets nobody in."""


@pytest.fixture
def server() -> Iterator[tuple[int, dict[str, bytes], list[bool]]]:
    """A server with two keys: its port, type -> key, and whether a login was tried in each connection."""
    keys = [paramiko.RSAKey.generate(2048), paramiko.ECDSAKey.generate()]
    listener = socket.create_server(("127.0.0.1", 0))
    logins: list[bool] = []
    done = threading.Event()

    def serve() -> None:
        while not done.is_set():
            try:
                link, _ = listener.accept()
            except OSError:
                return
            session = paramiko.Transport(link)
            for key in keys:
                session.add_server_key(key)
            try:
                session.start_server(server=_Nobody())
            except (paramiko.SSHException, EOFError):
                continue
            session.join(5)
            logins.append(session.is_authenticated())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1], {key.get_name(): key.asbytes() for key in keys}, logins
    done.set()
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(10)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_each_kind_of_key_is_shown_and_one_that_the_server_lacks_is_passed_over(
    server: tuple[int, dict[str, bytes], list[bool]],
) -> None:
    port, keys, logins = server
    assert dict(offered_keys("127.0.0.1", port=port, seconds=10)) == keys
    assert not any(logins)


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(OSError, match="refused"):
        list(offered_keys("127.0.0.1", port=port, seconds=1))
