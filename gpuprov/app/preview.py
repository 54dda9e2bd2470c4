"""`preview`: what `up` would do, without doing it."""

from dataclasses import dataclass, replace
from typing import Final

from gpuprov.app.foresee import foresee
from gpuprov.app.ground import UpRequest, open_ground, with_found
from gpuprov.app.host_rules import host_warnings
from gpuprov.app.observe import observe, split
from gpuprov.app.planning import plan_fleet, with_absent
from gpuprov.app.site import Site, open_site
from gpuprov.app.steps import in_order, steps_of
from gpuprov.app.terms import Terms, terms_of
from gpuprov.model.cloud_view import CloudView
from gpuprov.model.diagnostic import Diagnostic, status_of
from gpuprov.model.planned import Planned
from gpuprov.model.progress import Report
from gpuprov.model.status import ExitStatus, combine_statuses

CHANGED_BY_HAND: Final = "GP-CLOUD-065"
"""Of what differs in the account without being in a plan: a rule or a policy that somebody added."""
_PATIENCE: Final = 15.0
"""Seconds that a command which only looks waits for a host that is coming up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """A plan, and what is to be told beside it."""

    planned: Planned
    diagnostics: tuple[Diagnostic, ...]
    view: CloudView | None = None
    """The instances that stand; None for a rack."""

    def status(self, *, expect_no_changes: bool) -> ExitStatus:
        """0; 4 for an unreachable host; 5 for what `up` would refuse; 10 when a fact is unknown.

        Args:
            expect_no_changes: then 7 for a difference.
        """
        plan = self.planned.plan
        found = [status_of(self.diagnostics)]
        if expect_no_changes and (not plan.resources.empty or any(d.code == CHANGED_BY_HAND for d in self.diagnostics)):
            found.append(ExitStatus.DIFFERENT)
        for host in plan.hosts:
            if expect_no_changes and (host.changes or any(finding.counts for finding in host.not_curable)):
                found.append(ExitStatus.DIFFERENT)
            if any(finding.counts for finding in host.unknown):
                found.append(ExitStatus.INCOMPLETE)
        return combine_statuses(found)


def preview(request: UpRequest, report: Report) -> Preview:
    """Plan all hosts of a target, and what would be made for it, from a fresh look.

    Raises:
        GpuprovError: when spec, lock, inventory or account cannot be used.
    """
    site = open_site(request.spec)
    terms = terms_of(site.spec, take_over=request.take_over, disturb=request.disturb, no_rollback=request.no_rollback)
    return look_at(site, request, report, terms=terms)


def look_at(site: Site, request: UpRequest, report: Report, *, terms: Terms | None = None) -> Preview:
    """The preview of one target.

    Args:
        site: the spec and what lies beside it.
        request: which target and hosts.
        report: where progress goes.
        terms: what the user agreed to, for hosts that would be changed; None for a mere look: nobody asks apt then, and
            no host is refused.
    """
    ground = open_ground(site, request, patience=_PATIENCE)
    found = ground.look(report)
    fleet, waivers = found.fleet, site.spec.waivers
    snapshots, not_observed = split(observe(fleet.hosts, fleet, request.access, report))
    planned = plan_fleet(fleet, snapshots, not_observed, lock=ground.lock, waivers=waivers, terms=terms)
    planned = with_absent(planned, found.absent)
    if terms:
        planned = foresee(planned, fleet, access=request.access, terms=terms, waivers=waivers, report=report)
        planned = in_order(planned, fleet, steps_of(site, fleet, planned, request.access))
    planned = replace(planned, plan=with_found(planned.plan, found))
    return Preview(
        planned=planned,
        view=found.view,
        diagnostics=(
            *site.warnings,
            *found.diagnostics,
            *host_warnings(planned),
            *unobserved(planned),
            *found.refused,
        ),
    )


def unobserved(planned: Planned) -> tuple[Diagnostic, ...]:
    """One diagnostic for each host that is left out: unseen, or not to be changed as it is."""
    return tuple(found.diagnostic for found in planned.not_observed.values())
