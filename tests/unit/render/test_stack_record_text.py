"""What is recorded of a stack, on screen."""

import io
from dataclasses import replace
from typing import Any

import pytest

from gpuprov.model.stack_record import CopyOrigin, Holder, Orphan, Restoring, StackRecord, StateCopy
from gpuprov.render.ages import age_text
from gpuprov.render.stack_record_text import (
    restoring_body,
    show_recovery,
    show_restoring,
    show_stack_record,
    stack_record_body,
)
from gpuprov.render.terminal import text_terminal

COPY = StateCopy(name="20261130T010203.000000001Z.json", origin=CopyOrigin.BEFORE, written=1796000523.0, resources=7)
BROKEN = StateCopy(name="train.json.bak", origin=CopyOrigin.LAST, written=1796000000.0, resources=None, broken="line 1")
HOLDER = Holder(
    user="ana", machine="head", pid=42, since="2026-11-30T00:00:00Z", seconds=7260.0, alive=False, file="/l/1.json"
)
RECORD = StackRecord(
    stack="train",
    backend="local",
    secrets="passphrase",
    file="/s/train.json",
    resources=7,
    pending=(("instance.a", "creating"),),
    unfinished=True,
    holders=(HOLDER, replace(HOLDER, alive=None, seconds=None), replace(HOLDER, user="", machine="", alive=None)),
    copies=(COPY, BROKEN),
)


def shown(show: Any, *values: Any, **options: Any) -> list[str]:
    stream = io.StringIO()
    terminal = text_terminal(stream)
    show(*values, terminal, **options)
    return stream.getvalue().splitlines()


def test_a_record() -> None:
    assert shown(show_stack_record, RECORD) == [
        "train: 7 resource(s) in /s/train.json; secrets by passphrase",
        "  cut off while creating instance.a",
        "  unfinished: the last update has not ended well",
        "  held by ana on head since 2026-11-30T00:00:00Z, 2 h ago: process 42 is gone",
        "  held by ana on head since 2026-11-30T00:00:00Z: process 42 is on another machine",
        "  held by somebody: /l/1.json cannot be read",
        "20261130T010203.000000001Z.json  2026-11-30T01:02:03Z  before an update     7 resource(s)",
        "train.json.bak  2026-11-30T00:53:20Z  before the last write  broken: line 1",
    ]
    bare = replace(RECORD, resources=None, broken="line 3", pending=(), unfinished=False, holders=(), copies=())
    assert shown(show_stack_record, bare) == [
        "train: broken in /s/train.json; secrets by passphrase",
        "  line 3",
        "no copy of the state yet",
    ]


def test_going_back_says_what_is_forgotten() -> None:
    meaning = Restoring(copy=COPY, forgotten=("volume.s/a",), known_again=("vpc.main",), now_broken=True)
    lines = shown(show_restoring, meaning)
    assert lines[0].startswith("back to 20261130T010203")
    assert lines[1:4] == [
        "  the state is broken now: what it knew beyond the copy cannot be told",
        "  - no longer known  volume.s/a",
        "  + known again  vpc.main",
    ]
    assert "gpuprov recover" in lines[4]
    assert len(shown(show_restoring, replace(meaning, forgotten=(), now_broken=False))) == 2


def test_what_interrupted_runs_left() -> None:
    orphan = Orphan(address="vpc.main", type="t", id="vpc-1", twin=True)
    lines = shown(show_recovery, [("instance.a", "creating")], [orphan], unfinished=True)
    assert [line.partition(":")[0] for line in lines] == [
        "instance.a",
        "the last update has not ended well",
        "vpc.main",
    ]
    assert "beside the one" in lines[2]
    assert shown(show_recovery, [], [], unfinished=False) == [
        "nothing is pending, and the account holds nothing of the spec that the state does not know"
    ]


def test_json_has_everything() -> None:
    body: Any = stack_record_body(RECORD)
    assert body["copies"][0] == {
        "name": COPY.name, "origin": "before an update", "written": COPY.written, "resources": 7, "broken": "",
    }  # fmt: skip
    assert body["held_by"][0]["alive"] is False
    assert body["pending"] == [{"address": "instance.a", "operation": "creating"}]
    back: Any = restoring_body(Restoring(copy=COPY, forgotten=("a",), known_again=(), now_broken=False))
    assert (back["copy"]["name"], back["forgotten"], back["now_broken"]) == (COPY.name, ["a"], False)


@pytest.mark.parametrize(
    ("seconds", "text"), [(-3, "0 s"), (59.9, "59 s"), (60, "1 min"), (7199, "1 h"), (200000, "2 d")]
)
def test_ages(seconds: float, text: str) -> None:
    assert age_text(seconds) == text
