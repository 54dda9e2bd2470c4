import json
from pathlib import Path
from typing import Any

import pytest
from state_files import state_file

from gpuprov.cloud import state
from gpuprov.cloud.copies import back_up
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import GpuprovError

STATES = Path(__file__).parents[2] / "cases" / "cloud" / "states"


@pytest.fixture
def place(tmp_path: Path) -> StackPlace:
    return StackPlace(name="train", folder=tmp_path / "cloud", environment={}, region="us-east-1")


def put(place: StackPlace, text: str) -> Path:
    path = state_file(place)
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


def test_a_state_is_parsed_once_for_each_content(place: StackPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    real = state.parse_checkpoint

    def counted(text: str) -> Any:
        parsed.append(text)
        return real(text)

    monkeypatch.setattr(state, "parse_checkpoint", counted)
    first = json.dumps({**json.loads(recorded("pending")), "of": str(place.folder)})
    put(place, first)
    assert state.read_state(place) == state.read_state(place)
    put(place, first + "\n")
    state.read_state(place)
    assert parsed == [first, first + "\n"]
    put(place, "{")
    for _ in range(2):
        with pytest.raises(GpuprovError):
            state.read_state(place)


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
    copy = back_up(place)
    assert copy is not None
    broken_copy = path.with_name("train.json.bak")
    broken_copy.write_text("{")
    path.write_text(break_it(recorded("whole")))
    with pytest.raises(GpuprovError) as error:
        state.read_state(place)
    (found,) = error.value.diagnostics
    assert (found.code, found.address) == ("GP-CLOUD-013", str(path))
    assert words in found.summary
    assert f"gpuprov state restore {copy.rpartition('/')[2]}" in found.hint


def test_a_broken_state_without_a_copy_leads_to_the_tags(place: StackPlace) -> None:
    put(place, "{")
    with pytest.raises(GpuprovError) as error:
        state.read_state(place)
    assert "gpuprov:spec" in error.value.diagnostics[0].hint
