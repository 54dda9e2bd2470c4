"""Whether the hours in which a pool's hosts may be changed have come."""

from datetime import UTC, datetime, timedelta

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.rollout import RolloutSpec
from gpuprov.spec.times import DAY_MINUTES, DAYS, Window, read_window


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def is_open(window: Window, moment: datetime) -> bool:
    """Whether a moment lies in a window; one that began the evening before counts."""
    there = moment.astimezone(None if window.local else UTC)
    minute = there.hour * 60 + there.minute
    if window.opens < window.closes:
        return there.weekday() in window.days and window.opens <= minute < window.closes
    yesterday = (there.weekday() - 1) % len(DAYS)
    return (there.weekday() in window.days and minute >= window.opens) or (
        yesterday in window.days and minute < window.closes
    )


def opens_next(window: Window, moment: datetime) -> datetime:
    """When a window that is closed at a moment opens next, in the window's own time."""
    there = moment.astimezone(None if window.local else UTC)
    midnight = there.replace(hour=0, minute=0, second=0, microsecond=0)
    days = (midnight + timedelta(days=ahead, minutes=window.opens) for ahead in range(len(DAYS) + 1))
    return next(day for day in days if day > there and day.weekday() in window.days)


def refuse_closed(pool: str, steps: RolloutSpec, moment: datetime) -> tuple[Diagnostic, ...]:
    """Why no batch of a pool may begin at a moment; nothing when it may.

    Args:
        pool: the pool's name.
        steps: its rollout.
        moment: with its time zone.
    """
    window = read_window(steps.window) if steps.window is not None else None
    if window is None or is_open(window, moment):
        return ()
    opens = opens_next(window, moment)
    length = (window.closes - window.opens) % DAY_MINUTES or DAY_MINUTES
    return (
        Diagnostic(
            code="GP-ROLL-006",
            address=f"pools.{pool}.rollout.window",
            summary=f"no batch of the pool {pool} may begin now: its window is {steps.window}",
            detail=f"it opens next on {opens:%a %Y-%m-%d %H:%M %Z}, for {length // 60} h {length % 60:02} min",
            hint="run the same command again then, or change the window in the spec: the lock stays as it is",
        ),
    )
