"""`up` and `destroy`: make what is missing, bring hosts to their wants, or hand them back; on any ground."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gpuprov.app.foresee import foresee
from gpuprov.app.ground import Found, Ground, Grown, UpRequest, open_ground, with_found
from gpuprov.app.host_rules import host_warnings
from gpuprov.app.hosts import Fleet
from gpuprov.app.interrupt import cancelled_by_interrupt, interrupted
from gpuprov.app.keeping import Keep
from gpuprov.app.late_storage import with_late_storage
from gpuprov.app.plan_file import load_plan, refuse_outdated
from gpuprov.app.planning import seen_later, with_absent, with_more
from gpuprov.app.preview import unobserved
from gpuprov.app.resume import asked_for, find_interrupted, refuse_other_wants
from gpuprov.app.rolling import (
    Work,
    converge_hosts,
    keep_documents,
    log_trouble,
    look_and_plan,
    prove_hosts,
    told_to_journal,
)
from gpuprov.app.site import Site, open_site
from gpuprov.app.steps import in_order, steps_of
from gpuprov.app.terms import terms_of
from gpuprov.converge.types import RunDocuments
from gpuprov.model.change import Plan
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.planned import Planned
from gpuprov.model.progress import Report
from gpuprov.model.resource import ResourceResult
from gpuprov.model.run import HostResult, HostState, RunResult
from gpuprov.plan.text import write_plan
from gpuprov.store.journal import Journal, open_journal
from gpuprov.store.lock import hold_site

Ask = Callable[[Plan, Sequence[Diagnostic]], bool]
"""Shows a plan and asks whether to go on; raises GpuprovError when it cannot ask."""


def up(request: UpRequest, *, ask: Ask, report: Report) -> RunResult:
    """Look, plan, ask once, make what is missing, roll out, prove.

    A host that is as wanted already is not touched: no Ansible task runs for it.

    Args:
        request: spec, hosts, direction.
        ask: shows the plan and asks; not called when there is nothing to do.
        report: where progress goes.

    Returns:
        One result per host; failures are in it as diagnostics.

    Raises:
        GpuprovError: before anything was touched, when it cannot begin.
    """
    site = open_site(request.spec)
    command = "destroy" if request.release else "up"
    kept = load_plan(request.plan) if request.plan else None
    with hold_site(site.state, ["gpuprov", command]):
        resumed = find_interrupted(site, request) if request.resume else None
        request = resumed.request if resumed else request
        ground = open_ground(site, request)
        settled = ground.settle(report)
        found = ground.look(report)
        if found.refused:
            raise GpuprovError(*found.refused)
        work = _plan(site, ground, found, request, report)
        if kept:
            refuse_outdated(kept, work.planned, limited=request.access.limit is not None)
        if resumed:
            refuse_other_wants(resumed.run, work.fleet.wants)
        going_on = (resumed.told,) if resumed else ()
        told = (*going_on, *site.warnings, *settled, *found.diagnostics, *host_warnings(work.planned))
        if _is_done(work.planned.plan):
            return _as_it_is(work, found, report, told)
        work.steps.refuse_closed(work.planned)
        if not ask(work.planned.plan, told):
            return declined(work.planned, told)
        with open_journal(site.state, command, **asked_for(request, ground.target, resumed)) as journal:
            keep_documents(journal, work.fleet, work.documents)
            journal.keep("plan.json", write_plan(work.planned.plan))
            result = _run(ground, work, journal, report, told)
            journal.result["status"] = int(result.status)
            return result


def declined(planned: Planned, told: Sequence[Diagnostic]) -> RunResult:
    """The result of a run whose question was answered with no."""
    note = Diagnostic(code="GP-RUN-005", summary="nothing was changed", severity=Severity.NOTE)
    return RunResult(run="", plan=planned.plan, hosts=(), diagnostics=(*told, *unobserved(planned), note))


def _plan(site: Site, ground: Ground, found: Found, request: UpRequest, report: Report) -> Work:
    terms = terms_of(site.spec, take_over=request.take_over, disturb=request.disturb, no_rollback=request.no_rollback)
    waivers, documents = site.spec.waivers, RunDocuments(spec=site.text, lock=ground.lock_text)
    planned = look_and_plan(found.fleet, request.access, report, lock=ground.lock, waivers=waivers, terms=terms)
    planned = foresee(
        with_absent(planned, found.absent),
        found.fleet,
        access=request.access,
        terms=terms,
        waivers=waivers,
        report=report,
    )
    steps = steps_of(site, found.fleet, planned, request.access)
    planned = in_order(planned, found.fleet, steps)
    return Work(
        fleet=found.fleet,
        planned=replace(planned, plan=with_found(planned.plan, found)),
        access=request.access,
        documents=documents,
        waivers=waivers,
        terms=terms,
        steps=steps,
        keep=None if request.release else Keep(required=not request.no_rollback),
    )


def _is_done(plan: Plan) -> bool:
    return plan.resources.empty and not any(host.changes for host in plan.hosts)


def _as_it_is(work: Work, found: Found, report: Report, told: Sequence[Diagnostic]) -> RunResult:
    plan = work.planned.plan
    return RunResult(
        run="",
        plan=plan,
        hosts=prove_hosts(work, report=report),
        diagnostics=(*told, *unobserved(work.planned)),
        resources=_unchanged(plan.resources.unchanged, found.left),
    )


def _unchanged(count: int, left: Mapping[str, str]) -> ResourceResult | None:
    """The result of a run that had nothing to change in the account; None on a rack, where there is none."""
    return ResourceResult(unchanged=count, left=left) if count or left else None


def _run(ground: Ground, work: Work, journal: Journal, report: Report, told: Sequence[Diagnostic]) -> RunResult:
    tell = told_to_journal(journal, report)
    with cancelled_by_interrupt(tell) as cancel:
        grown = _make(ground, work, journal, tell, cancel)
        failed = any(d.severity is Severity.ERROR for d in grown.diagnostics)
        if failed or cancel.is_set():
            # What was made is recorded; no host is changed after that, so that nobody has to sort out two troubles.
            results = _not_started(work.planned.plan)
        else:
            work = _with_new_hosts(work, grown, journal, tell)
            results = converge_hosts(work, journal=journal, report=tell, cancel=cancel)
    told_so = any(d.code == "GP-RUN-003" for d in grown.diagnostics)
    late = (interrupted(journal.command),) if cancel.is_set() and not told_so else ()
    return RunResult(
        run=str(journal.folder),
        plan=work.planned.plan,
        hosts=results,
        diagnostics=(*told, *unobserved(work.planned), *grown.diagnostics, *late, *log_trouble(journal)),
        resources=grown.result,
    )


def _make(ground: Ground, work: Work, journal: Journal, report: Report, cancel: threading.Event) -> Grown:
    resources = work.planned.plan.resources
    if resources.empty:
        return Grown(fleet=work.fleet, result=_unchanged(resources.unchanged, {}))
    with journal.step("resources", planned={c.address: str(c.action) for c in resources.changes}) as ended:
        grown = ground.make(report, cancel)
        done = grown.result.changed if grown.result else ()
        ended["changed"] = {change.address: str(change.action) for change in done}
        ended["errors"] = [f"{d.code} {d.summary}" for d in grown.diagnostics if d.severity is Severity.ERROR]
    return grown


def _with_new_hosts(work: Work, grown: Grown, journal: Journal, report: Report) -> Work:
    """The work with the hosts that were just made: they are looked at and planned like any other."""
    there = {host.name for host in work.fleet.hosts}
    fresh = tuple(host for host in grown.fleet.hosts if host.name not in there and host.name not in grown.absent)
    fleet = replace(grown.fleet, hosts=(*work.fleet.hosts, *fresh))
    planned = with_absent(_looked_at_again(work, grown, report), grown.absent)
    if fresh:
        new = Fleet(hosts=fresh, wants={h.name: grown.fleet.wants[h.name] for h in fresh}, warnings=())
        keep_documents(journal, new, work.documents)
        seen = look_and_plan(new, work.access, report, lock=planned.plan.lock, waivers=work.waivers)
        planned = with_more(planned, seen)
    planned = with_late_storage(work, grown, planned, journal, report)
    return replace(work, fleet=fleet, planned=planned)


def _looked_at_again(work: Work, grown: Grown, report: Report) -> Planned:
    """The plan, with hosts that a change of the account made reachable, such as another range that may log in."""
    lost = tuple(host for host in work.fleet.hosts if host.name in work.planned.not_observed)
    if not lost or grown.result is None or not grown.result.changed:
        return work.planned
    fleet = replace(work.fleet, hosts=lost)
    return seen_later(
        work.planned, look_and_plan(fleet, work.access, report, lock=work.planned.plan.lock, waivers=work.waivers)
    )


def _not_started(plan: Plan) -> tuple[HostResult, ...]:
    return tuple(
        HostResult(host=host.host, pool=host.pool, state=HostState.NOT_STARTED if host.changes else HostState.SATISFIED)
        for host in plan.hosts
    )
