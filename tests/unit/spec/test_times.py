"""Lengths of time and windows: what their texts stand for, and which texts stand for nothing."""

import pytest

from gpuprov.spec.times import Window, read_window, refuse_duration, refuse_window, seconds_of


@pytest.mark.parametrize(("text", "seconds"), [("0s", 0), ("90s", 90), ("30m", 1800), ("2h", 7200), ("30d", 2592000)])
def test_a_length_of_time(text: str, seconds: float) -> None:
    assert refuse_duration(text) == ""
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "90", "-1s", "1.5h", "1h30m", "05m", "1w", "31d", "99999d"])
def test_no_length_of_time(text: str) -> None:
    assert text in refuse_duration(text)
    assert refuse_duration(text)


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("22:00-06:00", Window(days=tuple(range(7)), opens=1320, closes=360, local=False)),
        ("sun,sat 00:00-24:00 local", Window(days=(5, 6), opens=0, closes=1440, local=True)),
    ],
)
def test_a_window(text: str, window: Window) -> None:
    assert refuse_window(text) == ""
    assert read_window(text) == window


@pytest.mark.parametrize(
    "text",
    [
        "", "22:00", "22-06", "06:00-06:00", "22:60-06:00", "25:00-06:00", "24:00-06:00", "22:00-24:01",
        "sat,sat 22:00-06:00", "Sat 22:00-06:00", "sat, sun 22:00-06:00", "22:00-06:00 UTC",
    ],
)  # fmt: skip
def test_no_window(text: str) -> None:
    assert refuse_window(text)
