"""Our keys in files of others: taking them out gives what was there; the plan and the play do it in the same way."""

import json
from typing import Any

import pytest
from ansible.module_utils import gpuprov_merge, gpuprov_taken
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.want.merged import without_ours
from gpuprov.want.types import MergedKeys

OURS = {"runtimes": {"nvidia": {"args": [], "path": "nvidia-container-runtime"}}}
NAMES = st.sampled_from(["a", "b", "c"])
OBJECTS = st.dictionaries(
    NAMES,
    st.recursive(
        st.one_of(st.integers(0, 2), st.text("xy", max_size=1), st.lists(st.integers(0, 1), max_size=1)),
        lambda values: st.dictionaries(NAMES, values, max_size=3),
        max_leaves=6,
    ),
    max_size=3,
)


@given(OBJECTS, OBJECTS)
def test_what_was_there_comes_back(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    entry = gpuprov_taken.entry(None, theirs, ours)
    merged = gpuprov_merge.merge(theirs, ours)
    assert (entry is None) == (merged == theirs)
    if entry is not None:
        assert gpuprov_taken.without(merged, entry) == theirs


@given(OBJECTS, OBJECTS, OBJECTS)
def test_the_plan_says_what_the_play_does(theirs: dict[str, Any], ours: dict[str, Any], now: dict[str, Any]) -> None:
    entry = gpuprov_taken.entry(None, theirs, ours)
    if entry is not None:
        said = without_ours(json.dumps(now), MergedKeys(ours=entry["ours"], before=entry["before"]))
        assert json.loads(said) == gpuprov_taken.without(now, entry)


@pytest.mark.parametrize(
    ("now", "after"),
    [
        ({"runtimes": {"nvidia": OURS["runtimes"]["nvidia"], "kata": {}}}, {"runtimes": {"kata": {}}}),
        (
            {"runtimes": {"nvidia": {"path": "/opt/other", "args": []}}},
            {"runtimes": {"nvidia": {"path": "/opt/other"}}},
        ),
        ({"data-root": "/d"}, {"data-root": "/d"}),
        (OURS, {}),
    ],
)
def test_only_our_values_go(now: dict[str, Any], after: dict[str, Any]) -> None:
    entry = gpuprov_taken.entry(None, None, OURS)
    assert entry is not None
    assert entry["made"] is True
    assert gpuprov_taken.without(now, entry) == after


def test_a_value_that_came_after_us_is_not_put_back_as_if_it_had_been_there_before() -> None:
    first = gpuprov_taken.entry(None, {"a": 1}, {"a": 2, "b": 3})
    assert first is not None
    again = gpuprov_taken.entry(first, {"a": 9, "b": 9}, {"a": 2, "b": 3})
    assert again == first
    assert gpuprov_taken.without({"a": 2, "b": 3}, again) == {"a": 1}
