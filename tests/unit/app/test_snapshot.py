"""`snapshot` over recordings: what is written, under which names, and what of it names a site."""

from pathlib import Path

import pytest

from gpuprov.app.snapshot import replay
from gpuprov.document.recording_text import read_recording, write_recording
from gpuprov.document.snapshot_text import read_snapshot
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.fact import Known
from gpuprov.model.snapshot import CollectorOutput, Recording


def recorded(folder: Path, file: str, host: str) -> Path:
    name = CollectorOutput(command="uname -n", stdout=f"{host}\n", stderr="", status=0)
    recording = Recording(
        host=host, os="debian-12", arch="amd64", taken="2026-11-30T10:00:00Z", collectors={"name": name}
    )
    path = folder / file
    path.write_text(write_recording(recording), encoding="utf-8")
    return path


def test_recordings_are_written_for_sharing_under_names_that_tell_nothing(tmp_path: Path) -> None:
    files = [recorded(tmp_path, "a.yaml", "train-a"), recorded(tmp_path, "b.yaml", "train-b")]
    look = replay(files, out=tmp_path / "snapshots", record=tmp_path / "shared", full=False)
    assert look.stand_ins == {"train-a": "host-1", "train-b": "host-2"}
    written = sorted(path.relative_to(tmp_path) for path in look.written)
    assert [str(path) for path in written] == [
        "shared/host-1.yaml",
        "shared/host-2.yaml",
        "snapshots/train-a.json",
        "snapshots/train-b.json",
    ]
    assert "train" not in (tmp_path / "shared" / "host-2.yaml").read_text(encoding="utf-8")
    seen = read_snapshot((tmp_path / "snapshots" / "train-b.json").read_text(encoding="utf-8"), "x")
    assert seen.observe("host.name") == Known("train-b")


def test_a_full_recording_is_the_same_again(tmp_path: Path) -> None:
    file = recorded(tmp_path, "a.yaml", "train-a")
    look = replay([file], out=None, record=tmp_path / "again.yaml", full=True)
    assert look.stand_ins == {}
    again = read_recording((tmp_path / "again.yaml").read_text(encoding="utf-8"), "x")
    assert again == read_recording(file.read_text(encoding="utf-8"), "x")


def test_two_recordings_of_one_host_do_not_overwrite_each_other(tmp_path: Path) -> None:
    files = [recorded(tmp_path, "a.yaml", "train-a"), recorded(tmp_path, "b.yaml", "train-a")]
    assert len(replay(files, out=None, record=None, full=False).snapshots) == 2
    with pytest.raises(GpuprovError, match="train-a"):
        replay(files, out=tmp_path / "snapshots", record=None, full=False)
    assert not (tmp_path / "snapshots").exists()
