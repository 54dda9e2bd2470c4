"""`validate`: is the spec sound, by itself and by the compatibility rules?"""

from dataclasses import dataclass
from pathlib import Path

from gpuprov.app.own_rows import folder_reader
from gpuprov.app.site import today
from gpuprov.document.text import SPEC_LIMIT
from gpuprov.lock.compatibility import check_spec
from gpuprov.model.diagnostic import Diagnostic, Severity, status_of
from gpuprov.model.status import ExitStatus
from gpuprov.spec.decode import load, load_part
from gpuprov.store.files import read_text


@dataclass(frozen=True, kw_only=True, slots=True)
class Validation:
    """What was found, and the pools of the spec."""

    pools: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def status(self) -> ExitStatus:
        """The exit status of all diagnostics together."""
        return status_of(self.diagnostics)


def validate(path: Path) -> Validation:
    """Check a spec without a host or a source.

    Raises:
        GpuprovError: GP-DOC-001 when the file cannot be read; everything else is in the result.
    """
    text, folder = read_text(path, limit=SPEC_LIMIT), folder_reader(path)
    spec, diagnostics = load(text, str(path), folder)
    if spec is None:
        part = load_part(text, str(path), folder)
        # Only what is wrong with a pool by itself: warnings and notes may depend on what could not be read.
        found = check_spec(part, today=today()) if part is not None else ()
        errors = (d for d in found if d.severity is Severity.ERROR)
        return Validation(pools=(), diagnostics=(*diagnostics, *errors))
    return Validation(pools=tuple(spec.pools), diagnostics=(*diagnostics, *check_spec(spec, today=today())))
