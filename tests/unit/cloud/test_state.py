import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from gpuprov.cloud import state
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import GpuprovError

STATES = Path(__file__).parents[2] / "cases" / "cloud" / "states"


@pytest.fixture
def place(tmp_path: Path) -> StackPlace:
    return StackPlace(name="train", folder=tmp_path / "cloud", environment={}, region="us-east-1")


def put(place: StackPlace, text: str) -> Path:
    path = state.state_file(place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def recorded(name: str) -> str:
    return (STATES / f"{name}.json").read_text(encoding="utf-8")


def test_no_file_is_no_stack(place: StackPlace) -> None:
    found = state.read_state(place)
    assert (found.exists, found.pending, found.locked_by, found.resources) == (False, (), None, {})


def test_a_recorded_state_gives_hosts_volumes_and_what_is_pending(place: StackPlace) -> None:
    put(place, recorded("pending"))
    found = state.read_state(place)
    assert found.exists
    assert [host.name for host in found.made.hosts] == ["train-a", "train-b"]
    host = found.made.hosts[0]
    assert (host.pool, host.type, host.zone, host.private_address) == ("train", "g6.2xlarge", "us-east-1a", "10.0.0.5")
    assert host.instance_id == found.resources["instance.train-a"].id
    assert [(one.address, one.operation) for one in found.pending] == [("instance.train-c", "creating")]
    assert found.made.resources == len(found.resources) == 7


def test_volumes_and_buckets_go_by_the_names_of_the_spec() -> None:
    def row(kind: str, name: str, **more: Any) -> dict[str, Any]:
        return {"urn": f"urn:pulumi:train::gpuprov-aws::{kind}::{name}", "type": kind, "custom": True, **more}

    deployment = {
        "resources": [
            row(state.VOLUME, "volume.scratch/train-a", id="vol-1"),
            row(state.BUCKET, "bucket.data", id="b", outputs={"bucket": "train-data-1"}),
            row(state.INSTANCE, "instance.old", id="i-1", delete=True),
            row("pulumi:providers:aws", "default_7_51_1", id="p"),
        ]
    }
    found = state.state_of(deployment)
    assert found.made.volumes == {"scratch/train-a": "vol-1"}
    assert found.made.buckets == {"data": "train-data-1"}
    assert found.made.hosts == ()
    assert set(found.resources) == {"volume.scratch/train-a", "bucket.data"}


def without_provider(text: str) -> str:
    value = json.loads(text)
    latest = value["checkpoint"]["latest"]
    latest["resources"] = [row for row in latest["resources"] if not row["type"].startswith("pulumi:providers:")]
    return json.dumps(value)


BROKEN = {
    "cut off": (lambda text: text[: len(text) // 2], "line "),
    "empty": (lambda _: "", "line 1"),
    "another file": (lambda _: "{}", "checkpoint"),
    "a newer format": (lambda text: text.replace('"version": 3', '"version": 4'), "version 4"),
    "no provider": (without_provider, "provider"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_state_is_told_with_the_newest_whole_copy(place: StackPlace, name: str) -> None:
    break_it, words = BROKEN[name]
    path = put(place, recorded("whole"))
    copy = state.back_up(place)
    broken_copy = path.with_name("train.json.bak")
    broken_copy.write_text("{")
    path.write_text(break_it(recorded("whole")))
    with pytest.raises(GpuprovError) as error:
        state.read_state(place)
    (found,) = error.value.diagnostics
    assert (found.code, found.address) == ("GP-CLOUD-013", str(path))
    assert words in found.summary
    assert f"cp {copy} {path}" in found.hint


def test_a_broken_state_without_a_copy_leads_to_the_tags(place: StackPlace) -> None:
    put(place, "{")
    with pytest.raises(GpuprovError) as error:
        state.read_state(place)
    assert "gpuprov:spec" in error.value.diagnostics[0].hint


def lock(place: StackPlace, name: str, **values: object) -> None:
    folder = place.folder / "state" / ".pulumi" / "locks" / "organization" / state.PROJECT / place.name
    folder.mkdir(parents=True, exist_ok=True)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    whole = {"pid": os.getpid(), "username": "ana", "hostname": socket.gethostname(), "timestamp": now}
    (folder / f"{name}.json").write_text(json.dumps({**whole, **values}))


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
    holder = state.read_lock(place)
    assert holder is not None
    assert (holder.user, holder.alive) == ("ana", alive)


def test_a_live_lock_counts_before_a_stale_one_and_only_stale_ones_are_dropped(place: StackPlace) -> None:
    lock(place, "1", pid=2**22 - 1)
    assert [one.pid for one in state.drop_stale_locks(place)] == [2**22 - 1]
    lock(place, "1", pid=2**22 - 1)
    lock(place, "2")
    holder = state.read_lock(place)
    assert holder is not None
    assert holder.alive is True
    state.drop_stale_locks(place)
    assert state.read_lock(place) is not None


def test_a_lock_that_nobody_can_read_is_somebodys(place: StackPlace) -> None:
    lock(place, "1")
    holder = state.read_lock(place)
    assert holder is not None
    holder.path.write_text("")
    found = state.read_lock(place)
    assert found is not None
    assert found.alive is None
    assert state.drop_stale_locks(place) == ()


def test_backups_are_whole_private_and_few(place: StackPlace) -> None:
    assert state.back_up(place) is None
    path = put(place, recorded("whole"))
    copies = [state.back_up(place) for _ in range(13)]
    left = sorted((place.folder / "backups" / "train").iterdir())
    assert left == copies[-10:]
    assert left[-1].read_text() == path.read_text()
    assert left[-1].stat().st_mode & 0o777 == 0o600


def test_the_engines_own_history_is_kept_short(place: StackPlace) -> None:
    own = place.folder / "state" / ".pulumi"
    for folder, files in ((own / "backups", 10), (own / "history", 20)):
        there = folder / state.PROJECT / "train"
        there.mkdir(parents=True)
        for number in range(30):
            (there / f"train-{number:03}.json").touch()
        state.prune_history(place)
        assert [path.name for path in sorted(there.iterdir())] == [
            f"train-{number:03}.json" for number in range(30 - files, 30)
        ]
