"""`status`: is every host as wanted, on every target?"""

import functools
from dataclasses import dataclass, replace
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.ground import UpRequest
from gpuprov.app.planning import with_more
from gpuprov.app.preview import Preview, look_at
from gpuprov.app.site import Site, open_site
from gpuprov.app.targets import CLOUD, choose_targets, refuse_shared_names, refuse_unclear_limit
from gpuprov.model.cloud_view import CloudView
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.planned import Planned
from gpuprov.model.progress import Report
from gpuprov.model.status import ExitStatus, combine_statuses


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """The plan of every host (empty where it is as wanted), read as a state."""

    planned: Planned
    diagnostics: tuple[Diagnostic, ...]
    view: CloudView | None = None
    """The instances that stand; None where no cloud was looked at."""

    @property
    def status(self) -> ExitStatus:
        """0, 7 for a difference, 10 for what could not be observed; trouble with one host is never a failure here.

        A host that somebody switched off is no trouble.
        """
        plan = self.planned.plan
        found = [] if plan.resources.empty else [ExitStatus.DIFFERENT]
        for host in plan.hosts:
            if host.changes or any(finding.counts for finding in host.not_curable):
                found.append(ExitStatus.DIFFERENT)
            if any(finding.counts for finding in host.unknown):
                found.append(ExitStatus.INCOMPLETE)
        if any(not one.off for one in self.planned.not_observed.values()):
            found.append(ExitStatus.INCOMPLETE)
        return combine_statuses(found)


def status(path: Path, access: Access, report: Report, *, target: str | None = None) -> Status:
    """Look at all hosts of a site.

    Args:
        path: the spec.
        access: how to reach the hosts.
        report: where progress goes.
        target: `onprem` or `cloud`; None looks at all that the site has.

    Raises:
        GpuprovError: when spec, lock, inventory or account cannot be used.
    """
    site = open_site(path)
    targets = choose_targets(site, access, target)
    refuse_unclear_limit(targets, access, "name one: --target onprem or --target cloud")
    seen = [_look(site, name, access, report) for name in targets]
    off = {one.diagnostic for each in seen for one in each.planned.not_observed.values() if one.off}
    told = tuple(
        dict.fromkeys(d for each in seen for d in each.diagnostics if d.severity is not Severity.ERROR and d not in off)
    )
    view = next((each.view for each in seen if each.view is not None), None)
    return Status(planned=functools.reduce(_both, (each.planned for each in seen)), diagnostics=told, view=view)


def _look(site: Site, target: str, access: Access, report: Report) -> Preview:
    # An inventory of the command line is the rack's.
    access = replace(access, inventory=None) if target == CLOUD else access
    request = UpRequest(spec=site.path, access=access, target=target)
    return look_at(site, request, report)


def _both(first: Planned, second: Planned) -> Planned:
    refuse_shared_names(first.plan.wants, second.plan.wants)
    resources = second.plan.resources if first.plan.resources.empty else first.plan.resources
    both = with_more(first, second)
    return replace(both, plan=replace(both.plan, resources=resources))
