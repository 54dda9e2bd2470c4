import os
from pathlib import Path

import pytest
from ansible.module_utils import gpuprov_record as record


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "state" / "owned.json"
    record.write_json(path, {"b": 1, "a": ["x"]})
    assert record.read_json(path, dict) == {"a": ["x"], "b": 1}
    assert path.stat().st_mode & 0o777 == 0o644
    assert [p.name for p in path.parent.iterdir()] == ["owned.json"]


def test_an_absent_record_is_empty(tmp_path: Path) -> None:
    assert record.read_json(tmp_path / "x", dict) == {}
    assert record.read_json(tmp_path / "x", list) == []


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [("", dict, "empty"), ("\n", list, "empty"), ('{"a": ', dict, "not valid JSON"), ("[]", dict, "expected a dict")],
)
def test_a_broken_record_is_told_with_its_path_and_left_alone(
    tmp_path: Path, text: str, kind: type, words: str
) -> None:
    path = tmp_path / "owned.json"
    path.write_text(text)
    with pytest.raises(record.Broken, match=words) as caught:
        record.read_json(path, kind)
    assert caught.value.path == path
    assert path.read_text() == text


def test_the_text_is_on_disk_before_the_name_points_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, seen = tmp_path / "x", []
    real = os.fsync

    def fsync(handle: int) -> None:
        folder = Path(f"/proc/self/fd/{handle}").is_dir()
        seen.append(("folder" if folder else "file", path.exists()))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    record.write_text(path, "t", 0o600)
    assert seen == [("file", False), ("folder", True)]
    assert path.stat().st_mode & 0o777 == 0o600
