"""The lock of a host, with real processes on this machine: who has it, who is told, and that it ends by itself."""

import fcntl
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from gpuprov.model.host import Connection, Host
from gpuprov.model.progress import Progress
from gpuprov.rollout import host_lock
from gpuprov.rollout.host_lock import HostLocks
from gpuprov.store.lock import owner_now
from gpuprov.transport.held import HeldCommand
from gpuprov.transport.local import LocalTransport

pytestmark = pytest.mark.slow  # starts other programs

HOST = Host(name="a", pool="train", target="onprem", connection=Connection(host="a", address="a", kind="local"))

HOLDER = """
import sys, time
sys.path.insert(0, sys.argv[2])
from test_host_lock import HOST, HostLocks, connect, host_lock, owner_now
host_lock.PATH = sys.argv[1]
with HostLocks(connect, owner_now(["gpuprov", "rollback"])) as locks:
    print(locks.take_all([HOST], width=1), flush=True)
    time.sleep(60)
"""


class Plain(LocalTransport):
    """This machine, without becoming root: the lock's file lies in the test's own folder."""

    def hold(self, command: str, *, timeout: float, root: bool = False) -> HeldCommand:
        assert root
        return super().hold(command, timeout=timeout)


def connect(host: Host) -> Plain:
    return Plain(host.connection)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the lock is, in this test."""
    monkeypatch.setattr(host_lock, "PATH", str(tmp_path / "lock"))
    return tmp_path / "lock"


def is_free(path: Path) -> bool:
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def soon(what: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if what():
            return True
        time.sleep(0.02)
    return False


def test_the_second_is_told_who_has_the_host_and_the_end_of_the_first_frees_it(path: Path) -> None:
    with HostLocks(connect, owner_now(["gpuprov", "up"])) as first:
        assert first.take_all([HOST], width=4) == {}
        assert first.take_all([HOST], width=4) == {}, "it is ours already"
        assert json.loads(path.read_text())["command"] == "gpuprov up"
        assert path.stat().st_mode & 0o077 == 0, "who is not root cannot hold it against us"
        with HostLocks(connect, owner_now(["gpuprov", "destroy"])) as second:
            (told,) = second.take_all([HOST], width=4)["a"]
        assert (told.code, told.address) == ("GP-RUN-011", "a")
        assert f"process {owner_now([]).pid}" in told.summary
        assert "command: gpuprov up\nrunning for: " in told.detail
        assert not is_free(path)
    assert is_free(path)
    assert path.read_text() == ""


def test_a_run_that_is_killed_locks_nobody_out(path: Path) -> None:
    here = str(Path(__file__).parent)
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path), here], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "{}\n"
        assert not is_free(path)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert soon(lambda: is_free(path))


def test_a_run_that_falls_silent_loses_the_lock_and_takes_it_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_lock, "SILENCE", 0.3)
    with HostLocks(connect, owner_now(["gpuprov", "up"])) as locks:
        locks.keep(HOST)
        # A process that ends gives its lock back a moment before anybody can see that it has ended.
        assert soon(lambda: is_free(path) and not locks._held[HOST.name][1].alive)
        monkeypatch.setattr(host_lock, "SILENCE", 30.0)
        locks.keep(HOST)
        assert not is_free(path)


def test_the_lock_of_a_run_of_this_machine_that_ended_unheard_is_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its network was lost before it ended: the host only learns by its silence."""
    monkeypatch.setattr(host_lock, "_PAUSE", 0.01)
    monkeypatch.setattr(host_lock, "_LOST_PAUSE", 0.1)
    gone = replace(owner_now(["gpuprov", "up"]), pid=2**22 + 1)
    foreign = replace(gone, host="another-machine")
    for owner, refused in ((foreign, True), (gone, False)):
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(json.dumps(asdict(owner)) + "\n")
            file.flush()
            timer = threading.Timer(2.5, fcntl.flock, (file, fcntl.LOCK_UN))
            timer.start()
            told: list[Progress] = []
            with HostLocks(connect, owner_now(["gpuprov", "up"]), told.append) as locks:
                assert bool(locks.take_all([HOST], width=1)) is refused
            assert [progress.subject for progress in told] == ([] if refused else [HOST.name]), "a wait is told, once"
            timer.join()


def test_signs_of_life_keep_the_lock(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_lock, "SILENCE", 0.6)
    monkeypatch.setattr(host_lock, "BEAT", 0.05)
    with HostLocks(connect, owner_now(["gpuprov", "up"])) as locks:
        locks.keep(HOST)
        time.sleep(1.5)
        assert not is_free(path)


def test_a_host_whose_lock_cannot_be_made_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_lock, "PATH", "/nonexistent/lock")
    with HostLocks(connect, owner_now(["gpuprov", "up"])) as locks:
        (told,) = locks.take_all([HOST], width=1)["a"]
    assert told.code == "GP-SSH-007"
    assert "/nonexistent/lock" in told.detail
