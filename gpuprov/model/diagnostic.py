"""What gpuprov tells people when something is wrong: diagnostics as values, and the one exception that carries them."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from gpuprov.model.codes import CODES
from gpuprov.model.status import ExitStatus, combine_statuses


class Severity(StrEnum):
    """How much a diagnostic weighs."""

    ERROR = "error"
    """The command cannot do what was asked."""
    WARNING = "warning"
    """The command goes on; somebody should know."""
    NOTE = "note"
    """Worth saying once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A place in a text file; lines and columns count from 1."""

    file: str
    line: int
    column: int
    end_column: int | None = None
    text: str = ""
    """The source line itself, for the caret; empty when it cannot be shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnostic:
    """One thing to tell: a code of the table `CODES`, where, what, why and the way on."""

    code: str
    summary: str
    """One sentence without a full stop: what is wrong, with what was found."""
    address: str = ""
    """The dotted path of the spec, a host, or a package: what it is about."""
    detail: str = ""
    """What was expected, evidence, the chain of reasons; may have several lines."""
    hint: str = ""
    """What to do."""
    span: Span | None = None
    severity: Severity = Severity.ERROR
    source: str = ""
    """Where a rule or figure comes from, with its date."""

    def __post_init__(self) -> None:
        """Refuse a code that the table does not know: a diagnostic without a status cannot exist."""
        if self.code not in CODES:
            raise KeyError(self.code)

    @property
    def status(self) -> ExitStatus:
        """The exit status that this diagnostic alone gives."""
        return CODES[self.code].status if self.severity is Severity.ERROR else ExitStatus.DONE


class GpuprovError(Exception):
    """Raised when a command cannot go on; it carries what to tell the user.

    Args:
        diagnostics: at least one diagnostic of severity error.
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        self.diagnostics = diagnostics
        super().__init__("; ".join(f"{d.code} {d.address}: {d.summary}" for d in diagnostics))

    @property
    def status(self) -> ExitStatus:
        """The exit status of all diagnostics together."""
        return status_of(self.diagnostics)


def status_of(diagnostics: Iterable[Diagnostic]) -> ExitStatus:
    """The exit status that several diagnostics give together; DONE when none is an error."""
    return combine_statuses(d.status for d in diagnostics if d.severity is Severity.ERROR)
