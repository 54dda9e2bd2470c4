import pytest

from gpuprov.lab import making
from gpuprov.lab.seed import draw, move
from gpuprov.model.diagnostic import GpuprovError


def test_a_range_in_use_is_left_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = draw(1)
    used = {drawn.network, move(drawn, 1).network}
    monkeypatch.setattr(making.network, "used_by", lambda subnet: "vpn0" if subnet in used else None)
    assert making._free_range(drawn) == move(drawn, 2)
    used.clear()
    assert making._free_range(drawn) == drawn


def test_a_machine_that_uses_every_range_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making.network, "used_by", lambda _: "vpn0 (0.0.0.0/0)")
    with pytest.raises(GpuprovError) as caught:
        making._free_range(draw(1))
    assert "vpn0" in caught.value.diagnostics[0].detail
