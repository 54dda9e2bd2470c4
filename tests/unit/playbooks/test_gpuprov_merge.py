import json

import pytest
from ansible.module_utils import gpuprov_merge as m

OURS = '{"runtimes": {"nvidia": {"args": [], "path": "nvidia-container-runtime"}}}'
A17 = (
    '{"data-root":"/data/d","hosts":["unix:///var/run/docker.sock"],'
    '"log-opts":{"max-size":"10m"},"runtimes":{"kata":{"path":"/usr/bin/kata"}}}'
)


def test_foreign_keys_and_runtimes_stay() -> None:
    found = json.loads(m.merged(A17, OURS))
    assert list(found) == ["data-root", "hosts", "log-opts", "runtimes"]
    assert found["data-root"] == "/data/d"
    assert set(found["runtimes"]) == {"kata", "nvidia"}
    assert "default-runtime" not in found


def test_a_second_merge_changes_nothing_not_even_the_layout() -> None:
    once = m.merged(A17, OURS)
    assert m.merged(once, OURS) == once
    narrow = json.dumps(json.loads(once))
    assert m.merged(narrow, OURS) == narrow


@pytest.mark.parametrize("current", [None, "", " \n"])
def test_no_file_and_an_empty_file_become_ours(current: str | None) -> None:
    assert json.loads(m.merged(current, OURS)) == json.loads(OURS)


@pytest.mark.parametrize(("current", "words"), [('{"a": 1,}', "line 1"), ("[]", "list"), ('"x"', "str")])
def test_what_cannot_be_merged_is_told(current: str, words: str) -> None:
    with pytest.raises(m.NotMergeable, match=words):
        m.merged(current, OURS)


def test_volatile_keys_alone_are_no_difference() -> None:
    assert m.same_but('{"a": 1, "when": "x"}', '{"a": 1, "when": "y"}', ["when"])
    assert not m.same_but('{"a": 1, "when": "x"}', '{"a": 2, "when": "x"}', ["when"])
    assert not m.same_but('{"a": 1}', '{"a": 1}', [])
    assert not m.same_but("broken", '{"a": 1}', ["when"])
    assert not m.same_but(None, '{"a": 1}', ["when"])
