"""Windows: which moments lie in them, and when one that is closed opens next."""

from datetime import datetime, timedelta, timezone

import pytest

from gpuprov.rollout.window import is_open, opens_next, refuse_closed
from gpuprov.spec.rollout import RolloutSpec
from gpuprov.spec.times import Window, read_window


def window(text: str) -> Window:
    found = read_window(text)
    assert found is not None
    return found


def moment(text: str, hours: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone(timedelta(hours=hours)))


# 2026-11-30 is a Monday.
@pytest.mark.parametrize(
    ("text", "at", "opens"),
    [
        ("08:00-18:00", "2026-11-30T08:00", None),
        ("08:00-18:00", "2026-11-30T17:59", None),
        ("08:00-18:00", "2026-11-30T18:00", "2026-12-01T08:00"),
        ("08:00-18:00", "2026-11-30T07:59", "2026-11-30T08:00"),
        ("22:00-06:00", "2026-11-30T23:00", None),
        ("22:00-06:00", "2026-12-01T05:59", None),
        ("22:00-06:00", "2026-12-01T06:00", "2026-12-01T22:00"),
        ("sun 22:00-06:00", "2026-11-30T03:00", None),
        ("sun 22:00-06:00", "2026-12-01T03:00", "2026-12-06T22:00"),
        ("mon 22:00-06:00", "2026-11-30T03:00", "2026-11-30T22:00"),
        ("mon 08:00-09:00", "2026-11-30T09:30", "2026-12-07T08:00"),
        ("sat,sun 00:00-24:00", "2026-12-06T23:59", None),
        ("sat,sun 00:00-24:00", "2026-12-07T00:00", "2026-12-12T00:00"),
    ],
)
def test_a_moment_in_a_window_or_before_the_next(text: str, at: str, opens: str | None) -> None:
    assert is_open(window(text), moment(at)) is (opens is None)
    if opens is not None:
        assert opens_next(window(text), moment(at)) == moment(opens)


def test_the_hours_are_utc_wherever_the_run_is() -> None:
    assert is_open(window("08:00-18:00"), moment("2026-11-30T09:00", hours=1))
    assert not is_open(window("08:00-18:00"), moment("2026-11-30T08:59", hours=1))


def test_a_closed_window_is_refused_with_the_time_of_the_next() -> None:
    at = moment("2026-11-30T12:00")
    assert refuse_closed("train", RolloutSpec(), at) == ()
    assert refuse_closed("train", RolloutSpec(window="08:00-18:00"), at) == ()
    (found,) = refuse_closed("train", RolloutSpec(window="tue 22:00-06:00"), at)
    assert (found.code, found.address) == ("GP-ROLL-006", "pools.train.rollout.window")
    assert "Tue 2026-12-01 22:00 UTC, for 8 h 00 min" in found.detail
