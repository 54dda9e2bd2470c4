"""Progress of long steps, as values that app yields and render shows."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """One thing that happened in a long step."""

    phase: str
    """Such as `probe`, `fetch`, `converge`, `reboot`."""
    subject: str = ""
    """Host, source or package."""
    text: str = ""
    """What happened, or the last line of the slow step."""
    done: int | None = None
    total: int | None = None
    finished: bool = False
    """Whether the phase (or the subject's part of it) has ended."""


Report = Callable[[Progress], None]
"""Where progress goes."""


def ignore_progress(_: Progress) -> None:
    """Take progress and show nothing (library use, tests)."""
