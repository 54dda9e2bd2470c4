import json
from dataclasses import replace
from pathlib import Path

import pytest

from gpuprov.lab import names, record
from gpuprov.lab.record import LabRecord, exclusive, read_record, write_record
from gpuprov.lab.seed import draw
from gpuprov.model.diagnostic import GpuprovError


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(names, "ROOT", tmp_path)
    monkeypatch.setattr(record, "ROOT", tmp_path)
    return tmp_path


def test_a_record_can_be_read_back_whole() -> None:
    lab = draw(4)
    odd = replace(lab.nodes[0], sudo_password="x", gpu=None)
    lab = replace(lab, nodes=(odd, *lab.nodes[1:]))
    written = LabRecord(phase="making", folder=Path("/somewhere"), description=lab)
    assert read_record(lab.id) is None
    write_record(written)
    assert read_record(lab.id) == written
    write_record(replace(written, phase="up"))
    assert read_record(lab.id) == replace(written, phase="up")


def test_a_lab_with_and_without_a_cloud_is_read_back_and_one_of_before_there_was_any() -> None:
    for cloud in (True, False):
        lab = draw(4, cloud=cloud)
        write_record(LabRecord(phase="up", folder=Path("/somewhere"), description=lab))
        found = read_record(lab.id)
        assert found is not None
        assert found.description == lab
    place = names.LabNames(lab.id).record
    stored = json.loads(place.read_text())
    del stored["description"]["cloud"]
    place.write_text(json.dumps(stored))
    assert read_record(lab.id) == found


def test_one_process_at_a_time_holds_a_lab(root: Path) -> None:
    with exclusive("abc"):
        with pytest.raises(GpuprovError) as caught, exclusive("abc"):
            pytest.fail("held twice")
        assert "another process" in caught.value.diagnostics[0].summary
        with exclusive("abcd"):
            pass
    with exclusive("abc"):
        pass
    assert list(root.iterdir()) == []
