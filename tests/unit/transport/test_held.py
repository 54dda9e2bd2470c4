"""A command that stays, over ssh and on this machine."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.host import Connection
from gpuprov.transport.local import LocalTransport
from gpuprov.transport.protocol import Transport
from gpuprov.transport.ssh import connect

pytestmark = pytest.mark.slow  # starts other programs


@pytest.fixture(params=["ssh", "local"])
def transport(request: pytest.FixtureRequest, start_server: Any, client: Any) -> Iterator[Transport]:
    """A way to this machine, by each kind of connection."""
    if request.param == "local":
        yield LocalTransport(Connection(host="me", address="me", kind="local"))
        return
    server = start_server(keys=[client.key])
    client.knows(server)
    made = connect(client.connection(server))
    yield made
    made.close()


def soon(what: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and not what():
        time.sleep(0.02)
    return what()


def test_it_lives_until_its_input_is_ended(transport: Transport, tmp_path: Path) -> None:
    mark, heard = tmp_path / "ended", tmp_path / "heard"
    held = transport.hold(f"echo ready; echo more; cat >{heard}; touch {mark}", timeout=10)
    assert held.first == "ready"
    assert held.alive
    held.beat()
    assert soon(lambda: heard.exists() and heard.read_bytes() == b"\n")
    assert transport.run("echo beside", timeout=10).stdout == b"beside\n"
    assert not mark.exists()
    held.close()
    assert soon(mark.exists)


def test_one_that_has_ended_is_known(transport: Transport) -> None:
    held = transport.hold("echo busy; exit 3", timeout=10)
    assert held.first == "busy"
    assert soon(lambda: not held.alive)
    held.beat()
    held.close()


def test_one_that_ends_without_a_word_is_an_error_with_its_own(transport: Transport) -> None:
    with pytest.raises(GpuprovError) as caught:
        transport.hold("echo no lock here >&2; exit 3", timeout=10)
    (told,) = caught.value.diagnostics
    assert told.code == "GP-SSH-007"
    assert told.hint
    assert "status 3" in told.summary
    assert "no lock here" in told.detail


def test_one_that_never_says_a_word_is_given_up(transport: Transport) -> None:
    with pytest.raises(GpuprovError) as caught:
        transport.hold("cat >/dev/null", timeout=0.2)
    assert caught.value.diagnostics[0].code == "GP-SSH-006"


def test_it_ends_with_the_connection(start_server: Any, client: Any, tmp_path: Path) -> None:
    server = start_server(keys=[client.key])
    client.knows(server)
    transport = connect(client.connection(server))
    held = transport.hold(f"echo ready; cat >/dev/null; touch {tmp_path}/ended", timeout=10)
    transport.close()
    assert soon((tmp_path / "ended").exists)
    assert not held.alive
