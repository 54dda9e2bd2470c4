"""A run of before, as its journal tells it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class RunEnd(StrEnum):
    """How a run ended."""

    RUNNING = "running"
    """It has not ended: its process holds the site."""
    DONE = "done"
    """It ended with status 0, 7 or 10: what it was to do is done."""
    FAILED = "failed"
    """It ended by itself, and something failed or was refused."""
    INTERRUPTED = "interrupted"
    """Ctrl-C ended it."""
    KILLED = "killed"
    """It has no end: its process was killed, or its machine lost power."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PastStep:
    """One step of a run."""

    step: str
    hosts: tuple[str, ...]
    began: str
    """RFC 3339, UTC."""
    ended: str = ""
    """Empty where the journal has no end of it."""
    seconds: float = 0.0
    """How long it took; 0 without an end."""
    told: Mapping[str, object] = field(default_factory=dict)
    """What its end said."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PastHost:
    """What a run did with one host."""

    host: str
    state: str = ""
    """How the host came out of the run, as in a result; empty where the run ended before that was known."""
    step: str = ""
    """The last step that the host took part in; empty when none began."""
    within: bool = False
    """Whether that step had not ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PastRun:
    """A whole run."""

    name: str
    folder: str
    command: str
    by: str
    """Who ran it, and on which machine."""
    began: str
    ended: str
    """Empty where the journal has no end."""
    end: RunEnd
    status: int | None
    """The exit status, where the run came to say one."""
    error: str
    """Why it ended early; empty otherwise."""
    asked: Mapping[str, object]
    """How it was asked for: target, inventory, limit."""
    hosts: tuple[PastHost, ...]
    steps: tuple[PastStep, ...]
    resumes: str = ""
    """The run that it went on with."""
    resumed_by: str = ""
    """The run that went on with it."""
