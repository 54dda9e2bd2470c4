"""This machine as a host."""

import os
import time
from pathlib import Path

import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.host import Connection
from gpuprov.transport.local import LocalTransport
from gpuprov.transport.ssh import connect

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


@pytest.fixture
def local() -> LocalTransport:
    return LocalTransport(Connection(host="me", address="me", kind="local"))


def test_a_connection_of_kind_local_needs_no_ssh() -> None:
    transport = connect(Connection(host="me", address="nowhere.invalid", kind="local"))
    assert transport.host == "me"
    assert transport.run("echo here", timeout=10).stdout == b"here\n"


def test_streams_status_and_input(local: LocalTransport) -> None:
    content = os.urandom(500_000)
    outcome = local.run("cat; echo err >&2; exit 9", stdin=content, timeout=10)
    assert (outcome.status, outcome.stdout, outcome.stderr) == (9, content, b"err\n")


def test_a_command_is_ended_in_time(local: LocalTransport) -> None:
    start = time.monotonic()
    with pytest.raises(GpuprovError) as caught:
        local.run("sleep 20", timeout=1)
    assert caught.value.diagnostics[0].code == "GP-SSH-006"
    assert time.monotonic() - start < 5


def test_a_child_that_keeps_the_pipes_does_not_outlive_the_limit(local: LocalTransport) -> None:
    start = time.monotonic()
    with pytest.raises(GpuprovError) as caught:
        local.run("sleep 15 & echo started", timeout=1)
    assert caught.value.diagnostics[0].code == "GP-SSH-006"
    assert time.monotonic() - start < 8


def test_a_file_is_placed_whole(local: LocalTransport, tmp_path: Path) -> None:
    local.put(b"text", str(tmp_path / "x"), mode=0o600)
    assert (tmp_path / "x").read_bytes() == b"text"
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o600


def test_a_full_disk_is_told_as_such(local: LocalTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "gpuprov.transport.local.placing_command", lambda path, mode: f"cat >/dev/full; : {path} {mode}; exit 1"
    )
    with pytest.raises(GpuprovError) as caught:
        local.put(b"text", str(tmp_path / "x"), mode=0o600)
    assert caught.value.diagnostics[0].code == "GP-CONV-003"
