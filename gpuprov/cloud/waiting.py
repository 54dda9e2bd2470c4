"""Waiting for something that AWS does in its own time: bounded, and gentle with the API."""

import time
from collections.abc import Callable
from typing import Final

_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 10.0
_GROWTH: Final = 1.3


def wait_until(look: Callable[[], bool], *, seconds: float) -> bool:
    """Look again and again, at growing distances (1 s to 10 s), until it is so or the time has passed.

    Args:
        look: whether it is so.
        seconds: how long.

    Returns:
        False when it was not so at the last look.
    """
    deadline = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    while not look():
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(pause * _GROWTH, _LONGEST_PAUSE)
    return True
