import pytest

from gpuprov.cloud import waiting
from gpuprov.cloud.waiting import wait_until


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Time passes by sleeping only; returns the pauses."""
    slept: list[float] = []
    monkeypatch.setattr(waiting.time, "sleep", slept.append)
    monkeypatch.setattr(waiting.time, "monotonic", lambda: sum(slept))
    return slept


def test_it_is_so_at_once(pauses: list[float]) -> None:
    assert wait_until(lambda: True, seconds=0)
    assert pauses == []


def test_pauses_grow_to_ten_seconds_and_end_in_time(pauses: list[float]) -> None:
    assert not wait_until(lambda: False, seconds=100)
    assert pauses[0] == 1.0
    assert max(pauses) == 10.0
    assert sum(pauses) == pytest.approx(100)


def test_it_becomes_so(pauses: list[float]) -> None:
    assert wait_until(lambda: sum(pauses) > 5, seconds=100)
    assert sum(pauses) < 20
