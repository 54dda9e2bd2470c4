"""Lengths of time such as `30m`, and weekly windows such as `sat,sun 22:00-06:00 local`, as text and as values."""

import re
from dataclasses import dataclass
from typing import Final

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""Days of the week, in the order of Python's `weekday`."""
DAY_MINUTES: Final = 24 * 60

_LENGTH: Final = re.compile(r"(0|[1-9][0-9]{0,4})([smhd])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST: Final = 30 * 86_400
_WINDOW: Final = re.compile(r"(?:([a-z,]+) )?([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})( local)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """A part of each day, on some days of the week."""

    days: tuple[int, ...]
    """Days on which it opens, Monday is 0."""
    opens: int
    """Minute of the day."""
    closes: int
    """Minute of the day; not after `opens`: of the next day."""
    local: bool
    """Whether the times are those of this machine's clock; else they are UTC."""


def seconds_of(text: str) -> float:
    """The seconds of a length of time that the spec checked."""
    found = _LENGTH.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no length of time")
    return float(int(found[1]) * _SECONDS[found[2]])


def refuse_duration(text: str) -> str:
    """Say what is wrong with the text of a length of time; empty for a good one."""
    if not _LENGTH.fullmatch(text):
        return f"{text} is no length of time"
    return "" if seconds_of(text) <= _LONGEST else f"{text} is more than {_LONGEST // 86_400} days"


def read_window(text: str) -> Window | None:
    """The window of a text; None for one of another form."""
    found = _WINDOW.fullmatch(text)
    if found is None:
        return None
    names = found[1].split(",") if found[1] else list(DAYS)
    opens, closes = _minute(found[2], found[3]), _minute(found[4], found[5])
    known = set(names) <= set(DAYS) and len(set(names)) == len(names)
    if not known or opens is None or closes is None or opens in {closes, DAY_MINUTES}:
        return None
    return Window(days=tuple(sorted(map(DAYS.index, names))), opens=opens, closes=closes, local=bool(found[6]))


def refuse_window(text: str) -> str:
    """Say what is wrong with the text of a window; empty for a good one."""
    return "" if read_window(text) is not None else f"{text} is no window"


def _minute(hour: str, minute: str) -> int | None:
    total = int(hour) * 60 + int(minute)
    return total if int(minute) < 60 and total <= DAY_MINUTES else None  # noqa: PLR2004 - minutes of an hour
