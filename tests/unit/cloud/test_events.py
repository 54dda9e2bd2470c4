import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi.automation.events import EngineEvent

from gpuprov.cloud.events import EventReader, change_of
from gpuprov.cloud.judgement import judge
from gpuprov.model.progress import Progress
from gpuprov.model.resource import ResourceAction

FOLDER = Path(__file__).parents[2] / "cases" / "cloud"
CASES = yaml.safe_load((FOLDER / "events.yaml").read_text(encoding="utf-8"))


def events(name: str) -> list[EngineEvent]:
    recorded = json.loads((FOLDER / "events" / f"{name}.json").read_text(encoding="utf-8"))
    return [EngineEvent.from_json(event) for event in recorded["events"]]


def read(case: dict[str, Any]) -> tuple[EventReader, list[Progress]]:
    reader = EventReader(planning=case["planning"], total=len(case["changes"]))
    told = [reader.take(event) for event in events(case["file"])]
    return reader, [one for one in told if one is not None]


@pytest.mark.parametrize("case", CASES, ids=[case["file"] for case in CASES])
def test_each_recorded_run_gives_its_changes(case: dict[str, Any]) -> None:
    reader, told = read(case)
    found = [[one.address, one.action.value, list(one.reasons), list(one.changes)] for one in reader.changes]
    assert sorted(found) == sorted(case["changes"])
    assert reader.unchanged == case["unchanged"]
    assert reader.cancelled == case.get("cancelled", False)
    complaints = [[one.urn.rpartition("::")[2], one.text] for one in reader.complaints]
    wanted = case.get("complaints", [])
    assert [place for place, _ in complaints] == [place for place, _ in wanted]
    assert [words for (_, words), (_, text) in zip(wanted, complaints, strict=True) if words not in text] == []
    assert len(reader.created) == case.get("created", len([row for row in case["changes"] if row[1] == "create"]))
    # A run that changes nothing has nothing to show.
    assert bool(told) == (case["file"] != "up-same")


def test_every_recording_is_in_the_table() -> None:
    assert {case["file"] for case in CASES} == {path.stem for path in (FOLDER / "events").glob("*.json")}


def test_neither_the_stack_nor_its_provider_is_a_resource_of_the_user() -> None:
    for case in CASES:
        _, told = read(case)
        assert not [one for one in told if one.subject.startswith(("default_", "gpuprov-aws"))]


def test_progress_counts_what_is_done_of_what_was_planned() -> None:
    _, told = read(next(case for case in CASES if case["file"] == "up-failed"))
    assert [(one.done, one.total) for one in told if one.finished] == [(number, 5) for number in range(1, 6)]
    assert told[-1].text == "failed"
    assert told[-1].subject == "instance.train-a"


def test_a_create_that_failed_is_kept_with_its_tag() -> None:
    reader, _ = read(next(case for case in CASES if case["file"] == "up-failed"))
    (found,) = reader.failed
    assert found.urn.endswith("::instance.train-a")
    assert found.inputs["tags"]["gpuprov:id"] == "train/instance/train-a"
    assert found.provider.startswith("urn:pulumi:train::gpuprov-aws::pulumi:providers:aws::")
    assert found.parent.endswith("::gpuprov-aws-train")


def test_what_holds_data_is_marked() -> None:
    reader, _ = read(next(case for case in CASES if case["file"] == "preview-delete"))
    assert {one.address for one in reader.changes if one.holds_data} == {"instance.train-a", "instance.train-b"}


VALUES = (
    ("size: 100 -> 200", {"size": 100}, {"size": 200}, "size"),
    ('tags["a:b"]: x -> y', {"tags": {"a:b": "x"}}, {"tags": {"a:b": "y"}}, 'tags["a:b"]'),
    ("rules[1].port: 22 -> 23", {"rules": [{}, {"port": 22}]}, {"rules": [{}, {"port": 23}]}, "rules[1].port"),
    ("key", {"key": "[secret]"}, {"key": "[secret]"}, "key"),
    ("id", {"id": "a"}, {"id": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}, "id"),
    ("text", {"text": "x" * 100}, {"text": "y"}, "text"),
    ("new: (none) -> y", {}, {"new": "y"}, "new"),
    ("gone: y -> (none)", {"gone": "y"}, {}, "gone"),
    ("hidden", {}, {"hidden": "[secret]"}, "hidden"),
    ("a[7].b", {"a": []}, {"a": [1]}, "a[7].b"),
)


@pytest.mark.parametrize(("wanted", "old", "new", "path"), VALUES, ids=[row[3] for row in VALUES])
def test_values_are_shown_where_both_are_known_short_and_no_secret(
    wanted: str, old: dict[str, Any], new: dict[str, Any], path: str
) -> None:
    event = next(one for one in events("preview-update") if one.resource_pre_event is not None)
    meta = event.resource_pre_event.metadata
    meta.detailed_diff = {path: None}
    meta.old.inputs, meta.new.inputs = old, new
    assert change_of(meta, ResourceAction.UPDATE).changes == (wanted,)


def test_what_an_earlier_replacement_left_is_a_deletion_of_its_own_and_no_replacement() -> None:
    recorded = events("preview-replace")
    gone = [e for e in recorded if e.resource_pre_event and e.resource_pre_event.metadata.op == "delete-replaced"]
    reader = EventReader(planning=True)
    for event in gone:
        reader.take(event)
    assert [(one.address, one.action, one.leftover) for one in reader.changes] == [
        ("instance.train-a", ResourceAction.DELETE, True)
    ]
    assert judge(reader.plan(), named=()) == ()
    for event in recorded:
        reader.take(event)
    (whole,) = (one for one in reader.changes if one.address == "instance.train-a")
    assert (whole.action, whole.leftover) == (ResourceAction.REPLACE, False)
