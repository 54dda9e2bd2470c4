"""Exit statuses and the rule that picks one of several."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Final


class ExitStatus(IntEnum):
    """What a command's exit status means (the table "Exit status" of README.md)."""

    DONE = 0
    """Done, or in sync."""
    INTERNAL = 1
    """A fault of gpuprov itself."""
    USAGE = 2
    """A usage or document error."""
    CREDENTIALS = 3
    """A key, a password or a session was refused."""
    FAILED = 4
    """A host, a source or a resource failed."""
    REFUSED = 5
    """Incompatible, unsatisfiable, stale, unsigned or unsupported: refused before anything was touched."""
    NOT_FOUND = 6
    """No such pool, run, host or stack."""
    DIFFERENT = 7
    """Differences were found."""
    INTERRUPTED = 8
    """The user stopped the run."""
    TIMED_OUT = 9
    """A time limit passed."""
    INCOMPLETE = 10
    """Something could not be observed, or is unknown."""


_PRECEDENCE: Final = (
    ExitStatus.INTERNAL,
    ExitStatus.INTERRUPTED,
    ExitStatus.USAGE,
    ExitStatus.CREDENTIALS,
    ExitStatus.REFUSED,
    ExitStatus.FAILED,
    ExitStatus.TIMED_OUT,
    ExitStatus.NOT_FOUND,
    ExitStatus.DIFFERENT,
    ExitStatus.INCOMPLETE,
)


def combine_statuses(statuses: Iterable[ExitStatus]) -> ExitStatus:
    """Pick the status of a run in which several applied: the first of the fixed order, or DONE."""
    seen = frozenset(statuses)
    return next((status for status in _PRECEDENCE if status in seen), ExitStatus.DONE)
