"""`status`: is every host as wanted?"""

from dataclasses import dataclass
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.preview import preview
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.planned import Planned
from gpuprov.model.progress import Report
from gpuprov.model.status import ExitStatus, combine_statuses


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """The plan of every host (empty where it is as wanted), read as a state."""

    planned: Planned
    diagnostics: tuple[Diagnostic, ...]

    @property
    def status(self) -> ExitStatus:
        """0, 7 for a difference, 10 for what could not be observed; trouble with one host is never a failure here."""
        found = []
        for host in self.planned.plan.hosts:
            if host.changes or any(finding.counts for finding in host.not_curable):
                found.append(ExitStatus.DIFFERENT)
            if any(finding.counts for finding in host.unknown):
                found.append(ExitStatus.INCOMPLETE)
        if self.planned.not_observed:
            found.append(ExitStatus.INCOMPLETE)
        return combine_statuses(found)


def status(path: Path, access: Access, report: Report) -> Status:
    """Look at all hosts of a site.

    Raises:
        GpuprovError: when spec, lock or inventory cannot be used.
    """
    seen = preview(path, access, report)
    told = tuple(d for d in seen.diagnostics if d.severity is not Severity.ERROR)
    return Status(planned=seen.planned, diagnostics=told)
