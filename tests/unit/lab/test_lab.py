from pathlib import Path

import pytest

from gpuprov.lab import lab
from gpuprov.lab.seed import draw
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.progress import ignore_progress


def test_without_root_nothing_is_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lab.os, "geteuid", lambda: 1000)
    for call in (lambda: lab.up(draw(1), tmp_path, ignore_progress), lambda: lab.down("abc", ignore_progress)):
        with pytest.raises(GpuprovError) as caught:
            call()
        assert caught.value.diagnostics[0].code == "GP-LAB-001"
    assert list(tmp_path.iterdir()) == []


def test_a_lab_that_is_not_there_is_not_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("gpuprov.lab.names.ROOT", tmp_path)
    monkeypatch.setattr(lab.removal, "find", lambda lab_id: lab.Leftovers(id=lab_id))
    monkeypatch.setattr(lab.removal, "find_all", lambda: ("other",))
    for call in (lambda: lab.status("zzz"), lambda: lab.node("zzz", "n")):
        with pytest.raises(GpuprovError) as caught:
            call()
        assert caught.value.diagnostics[0].code == "GP-LAB-003"
        assert "other" in caught.value.diagnostics[0].hint


@pytest.mark.parametrize("lab_id", ["", "My Lab", "sevenxx", "../up"])
def test_what_cannot_be_an_id_is_a_usage_error(lab_id: str) -> None:
    for call in (lambda: lab.down(lab_id, ignore_progress), lambda: lab.status(lab_id), lambda: lab.node(lab_id, "n")):
        with pytest.raises(GpuprovError) as caught:
            call()
        assert caught.value.diagnostics[0].code == "GP-RUN-004"
