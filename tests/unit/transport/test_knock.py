"""A greeting, from here and from behind a jump host."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.transport.knock import greets


@contextmanager
def answering(greeting: bytes) -> Iterator[int]:
    """A server that says one thing to one caller; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            link, _ = server.accept()
            with link:
                link.sendall(greeting)

        thread = threading.Thread(target=greet)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


GREETINGS = [(b"SSH-2.0-OpenSSH_9.2\r\n", True), (b"HTTP/1.1 400\r\n", False)]


@pytest.mark.parametrize(("greeting", "answers"), GREETINGS)
def test_only_an_ssh_server_answers(greeting: bytes, answers: bool) -> None:  # noqa: FBT001
    with answering(greeting) as port:
        assert greets("127.0.0.1", port, jump=None, seconds=3) is answers


def test_nobody_answers() -> None:
    assert not greets("127.0.0.1", closed_port(), jump=None, seconds=3)


@pytest.mark.parametrize(("greeting", "answers"), GREETINGS)
def test_a_server_behind_a_jump_host_is_asked_from_there(
    start_server: Any,
    client: Any,
    greeting: bytes,
    answers: bool,  # noqa: FBT001
) -> None:
    jump = start_server(keys=[client.key])
    client.knows(jump)
    hop = client.connection(jump, host="bastion")
    with answering(greeting) as port:
        assert greets("127.0.0.1", port, jump=hop, seconds=3) is answers
    assert jump.forwarded == [("127.0.0.1", port)]


def test_a_jump_host_whose_key_is_not_known_is_not_used(start_server: Any, client: Any) -> None:
    jump = start_server(keys=[client.key])
    with pytest.raises(GpuprovError, match="GP-SSH-004 bastion"):
        greets("127.0.0.1", closed_port(), jump=client.connection(jump, host="bastion"), seconds=3)
    assert jump.forwarded == []


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
