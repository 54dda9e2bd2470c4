import json
import os
import socket
import time
from pathlib import Path

import pytest

from gpuprov.cloud.state_lock import drop_stale_locks, read_lock
from gpuprov.cloud.state_names import PROJECT
from gpuprov.cloud.types import StackPlace


@pytest.fixture
def place(tmp_path: Path) -> StackPlace:
    return StackPlace(name="train", folder=tmp_path / "cloud", environment={}, region="us-east-1")


def lock(place: StackPlace, name: str, **values: object) -> None:
    folder = place.folder / "state" / ".pulumi" / "locks" / "organization" / PROJECT / place.name
    folder.mkdir(parents=True, exist_ok=True)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    whole = {"pid": os.getpid(), "username": "ana", "hostname": socket.gethostname(), "timestamp": now}
    (folder / f"{name}.json").write_text(json.dumps({**whole, **values}))
    # The engine's file backend keeps attributes so.
    (folder / f"{name}.json.attrs").write_text('{"user.content_type":"text/plain"}')


LOCKS = {
    "a live process of this machine": ({}, True),
    "a process that is gone": ({"pid": 2**22 - 1}, False),
    "a later process with its number": ({"timestamp": "2020-01-01T00:00:00Z"}, False),
    "another machine's": ({"hostname": "elsewhere", "pid": 2**22 - 1}, None),
}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_tells_whether_its_holder_lives(place: StackPlace, name: str) -> None:
    values, alive = LOCKS[name]
    lock(place, "1", **values)
    holder = read_lock(place)
    assert holder is not None
    assert (holder.user, holder.alive) == ("ana", alive)


def test_a_live_lock_counts_before_a_stale_one_and_only_stale_ones_are_dropped(place: StackPlace) -> None:
    lock(place, "1", pid=2**22 - 1)
    assert [one.pid for one in drop_stale_locks(place)] == [2**22 - 1]
    lock(place, "1", pid=2**22 - 1)
    lock(place, "2")
    holder = read_lock(place)
    assert holder is not None
    assert holder.alive is True
    drop_stale_locks(place)
    assert read_lock(place) is not None


def test_a_lock_that_nobody_can_read_is_somebodys(place: StackPlace) -> None:
    lock(place, "1")
    holder = read_lock(place)
    assert holder is not None
    Path(holder.shown).write_text("")
    found = read_lock(place)
    assert found is not None
    assert found.alive is None
    assert drop_stale_locks(place) == ()
