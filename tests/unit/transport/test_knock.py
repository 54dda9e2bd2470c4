"""A greeting, from here and from behind a jump host."""

import socket
import threading
from typing import Any

import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.transport.knock import greets


@pytest.mark.parametrize(("greeting", "answers"), [(b"SSH-2.0-OpenSSH_9.2\r\n", True), (b"HTTP/1.1 400\r\n", False)])
def test_only_an_ssh_server_answers(greeting: bytes, answers: bool) -> None:  # noqa: FBT001
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            link, _ = server.accept()
            with link:
                link.sendall(greeting)

        thread = threading.Thread(target=greet)
        thread.start()
        assert greets("127.0.0.1", server.getsockname()[1], jump=None, seconds=3) is answers
        thread.join()


def test_nobody_answers() -> None:
    assert not greets("127.0.0.1", closed_port(), jump=None, seconds=3)


def test_a_server_behind_a_jump_host_is_asked_from_there(start_server: Any, client: Any) -> None:
    jump, server = start_server(keys=[client.key]), start_server(keys=[client.key])
    client.knows(jump)
    hop = client.connection(jump, host="bastion")
    assert greets("127.0.0.1", server.port, jump=hop, seconds=3)
    assert jump.forwarded == [("127.0.0.1", server.port)]
    assert server.logins == []
    assert not greets("127.0.0.1", closed_port(), jump=hop, seconds=3)


def test_a_jump_host_whose_key_is_not_known_is_not_used(start_server: Any, client: Any) -> None:
    jump, server = start_server(keys=[client.key]), start_server(keys=[client.key])
    with pytest.raises(GpuprovError, match="GP-SSH-003 bastion"):
        greets("127.0.0.1", server.port, jump=client.connection(jump, host="bastion"), seconds=3)
    assert jump.forwarded == []


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
