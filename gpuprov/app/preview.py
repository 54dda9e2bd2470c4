"""`preview`: what `up` would do, without doing it."""

from dataclasses import dataclass
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.hosts import open_fleet
from gpuprov.app.observe import observe, split
from gpuprov.app.planning import plan_fleet
from gpuprov.app.site import open_lock, open_site
from gpuprov.app.staleness import refuse_stale_lock
from gpuprov.model.diagnostic import Diagnostic, status_of
from gpuprov.model.planned import Planned
from gpuprov.model.progress import Report
from gpuprov.model.status import ExitStatus, combine_statuses


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """A plan, and what is to be told beside it."""

    planned: Planned
    diagnostics: tuple[Diagnostic, ...]

    def status(self, *, expect_no_changes: bool) -> ExitStatus:
        """0; 4 for an unreachable host; 10 when a fact is unknown; with `expect_no_changes` 7 for a difference."""
        found = [status_of(self.diagnostics)]
        for host in self.planned.plan.hosts:
            if expect_no_changes and (host.changes or any(finding.counts for finding in host.not_curable)):
                found.append(ExitStatus.DIFFERENT)
            if any(finding.counts for finding in host.unknown):
                found.append(ExitStatus.INCOMPLETE)
        return combine_statuses(found)


def preview(path: Path, access: Access, report: Report) -> Preview:
    """Plan all hosts of a site from a fresh look at them.

    Args:
        path: the spec.
        access: how to reach the hosts.
        report: where progress goes.

    Raises:
        GpuprovError: when spec, lock or inventory cannot be used.
    """
    site = open_site(path)
    lock, _ = open_lock(site)
    refuse_stale_lock(site, lock)
    fleet = open_fleet(site, lock, access)
    snapshots, not_observed = split(observe(fleet.hosts, fleet, access, report))
    planned = plan_fleet(fleet, snapshots, not_observed, lock=lock.digest, waivers=site.spec.waivers)
    return Preview(planned=planned, diagnostics=(*site.warnings, *fleet.warnings, *unobserved(planned)))


def unobserved(planned: Planned) -> tuple[Diagnostic, ...]:
    """One diagnostic for each host of which there is no snapshot."""
    return tuple(found.diagnostic for found in planned.not_observed.values())
