"""What is recorded of a cloud stack, its copies, and who holds it: values that app returns and render shows."""

from dataclasses import dataclass
from enum import StrEnum


class CopyOrigin(StrEnum):
    """Who made a copy of a stack's state, and when."""

    BEFORE = "before an update"
    """gpuprov's own."""
    AFTER = "after an update"
    """The engine's own."""
    LAST = "before the last write"
    """The engine's own, one for each stack."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StateCopy:
    """One copy of a stack's state."""

    name: str
    """As `state restore` takes it."""
    origin: CopyOrigin
    written: float
    """Seconds since the epoch."""
    resources: int | None
    """How many it holds; None when it is broken."""
    broken: str = ""
    """Why it cannot be used; empty for a whole one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Holder:
    """Who holds a stack's state."""

    user: str
    machine: str
    """Both empty when the lock file cannot be read."""
    pid: int
    since: str
    """UTC time, ISO."""
    seconds: float | None
    """For how long."""
    alive: bool | None
    """Whether that process still runs; None for another machine's."""
    file: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StackRecord:
    """A stack as its files tell."""

    stack: str
    backend: str
    """As the spec writes it."""
    secrets: str
    file: str
    resources: int | None
    """None when the state is broken."""
    broken: str = ""
    pending: tuple[tuple[str, str], ...] = ()
    """Address and operation of what an earlier run was cut off in."""
    unfinished: bool = False
    """Whether the last update has not ended well."""
    holders: tuple[Holder, ...] = ()
    copies: tuple[StateCopy, ...] = ()
    """Newest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Restoring:
    """What putting a copy back means."""

    copy: StateCopy
    forgotten: tuple[str, ...]
    """Addresses that the state knows now and the copy does not."""
    known_again: tuple[str, ...]
    """The other way round."""
    now_broken: bool
    """Whether the state cannot be read now, so that nobody knows what it would forget."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Orphan:
    """A resource of the account that carries the spec's tag, and that the state does not know."""

    address: str
    """Kind and name, by its tag."""
    type: str
    """Pulumi's type token."""
    id: str
    twin: bool
    """Whether the state holds another one of this address."""
