from pathlib import Path

import pytest

from gpuprov.lab import lab
from gpuprov.lab.seed import draw, move
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


def test_a_range_in_use_is_left_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = draw(1)
    used = {drawn.network, move(drawn, 1).network}
    monkeypatch.setattr(lab.network, "used_by", lambda subnet: "vpn0" if subnet in used else None)
    assert lab._free_range(drawn) == move(drawn, 2)
    used.clear()
    assert lab._free_range(drawn) == drawn


def test_a_machine_that_uses_every_range_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab.network, "used_by", lambda _: "vpn0 (0.0.0.0/0)")
    with pytest.raises(GpuprovError) as caught:
        lab._free_range(draw(1))
    assert "vpn0" in caught.value.diagnostics[0].detail


@pytest.mark.parametrize("lab_id", ["", "My Lab", "sevenxx", "../up"])
def test_what_cannot_be_an_id_is_a_usage_error(lab_id: str) -> None:
    for call in (lambda: lab.down(lab_id, ignore_progress), lambda: lab.status(lab_id), lambda: lab.node(lab_id, "n")):
        with pytest.raises(GpuprovError) as caught:
            call()
        assert caught.value.diagnostics[0].code == "GP-RUN-004"
