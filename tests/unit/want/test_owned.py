from typing import Any

import pytest
from host_builders import make_snapshot

from gpuprov.model.fact import Unknown
from gpuprov.want.owned import owned_of
from gpuprov.want.types import MergedKeys, Owned


def test_a_record_is_read() -> None:
    value = {
        "packages": {"a": "1"},
        "files": {"/x": "f00"},
        "sources": ["nvidia"],
        "want": "sha256:w",
        "when": "2026-11-30T00:00:00Z",
        "brought": ["a"],
        "kept": ["/x"],
        "merged": {"/y": {"ours": '{"a": 1}', "before": "{}", "made": True}},
    }
    assert owned_of(make_snapshot({"gpuprov.owned": value, "gpuprov.pending": ["initramfs"]})) == Owned(
        packages={"a": "1"},
        files={"/x": "f00"},
        sources=("nvidia",),
        want="sha256:w",
        brought=("a",),
        kept=("/x",),
        merged={"/y": MergedKeys(ours='{"a": 1}', before="{}")},
        pending=("initramfs",),
    )


def test_no_record_means_that_nothing_was_made() -> None:
    assert owned_of(make_snapshot({"gpuprov.owned": None})) == Owned()


@pytest.mark.parametrize(
    "value",
    [
        {"unknown": "permission denied"},
        ["a"],
        "text",
        {"packages": ["a"]},
        {"packages": {"a": 1}},
        {"files": "x"},
        {"sources": {}},
        {"want": 1},
        {"brought": "a"},
        {"kept": "a"},
        {"merged": []},
        {"merged": {"/y": {"ours": "{}"}}},
        {"merged": {"/y": {"ours": "no json", "before": "{}"}}},
        {"merged": {"/y": {"ours": "[]", "before": "{}"}}},
    ],
)
def test_a_record_that_is_not_understood_is_unknown_and_not_empty(value: Any) -> None:
    assert isinstance(owned_of(make_snapshot({"gpuprov.owned": value})), Unknown)


def test_a_record_that_nobody_looked_for_is_unknown() -> None:
    assert isinstance(owned_of(make_snapshot({})), Unknown)
