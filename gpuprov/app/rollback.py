"""`rollback`: bring hosts back to an earlier run, from what they keep of it themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.host_rules import host_warnings
from gpuprov.app.hosts import Fleet, open_inventory
from gpuprov.app.interrupt import cancelled_by_interrupt, interrupted
from gpuprov.app.keeping import Keep
from gpuprov.app.kept import Kept, read_kept
from gpuprov.app.named import named_hosts
from gpuprov.app.observe import observe
from gpuprov.app.optional_site import site_if_there
from gpuprov.app.planning import with_absent
from gpuprov.app.preview import unobserved
from gpuprov.app.rolling import (
    Work,
    converge_hosts,
    keep_documents,
    log_trouble,
    look_and_plan,
    prove_hosts,
    told_to_journal,
)
from gpuprov.app.site import Site
from gpuprov.app.steps import in_order, steps_of
from gpuprov.app.targets import choose_target
from gpuprov.app.terms import Terms, terms_of
from gpuprov.app.up import Ask, declined
from gpuprov.converge.types import RunDocuments
from gpuprov.model.change import Change, Plan
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.planned import Planned
from gpuprov.model.progress import Report
from gpuprov.model.run import RunResult
from gpuprov.model.waiver import Waiver
from gpuprov.plan.packages import MOVES
from gpuprov.spec.decode import load
from gpuprov.store.journal import open_journal
from gpuprov.store.lock import hold_site
from gpuprov.store.site import site_folder


@dataclass(frozen=True, kw_only=True, slots=True)
class RollbackRequest:
    """What `rollback` was asked to do."""

    spec: Path
    """It need not be there: then the inventory is given, and hosts tell how they are to be changed."""
    access: Access
    target: str | None = None
    """`onprem` or `cloud`; None where the site has one only."""
    to: str | None = None
    """Name of a run; None takes the last complete one before the newest, host by host."""
    disturb: bool = False
    """Whether hosts whose GPUs are in use are changed too."""


def rollback(request: RollbackRequest, *, ask: Ask, report: Report) -> RunResult:
    """Bring hosts back: the same play with the want of an earlier run, and the packages that the hosts keep.

    The spec and the lock on this machine stay as they are: `up` would upgrade again.

    Args:
        request: hosts, and which run.
        ask: shows the plan and asks; not called when there is nothing to do.
        report: where progress goes.

    Returns:
        One result per host; hosts that have nothing to go back to are told in its diagnostics.

    Raises:
        GpuprovError: before anything was touched, when it cannot begin.
    """
    site = site_if_there(request.spec)
    access = request.access
    if site is None and access.inventory is None:
        open_inventory(None, access)  # it says that one is needed
    target = choose_target(site, access, request.target) if site is not None else None
    with hold_site(site_folder(request.spec), ["gpuprov", "rollback"]):
        named = named_hosts((), site, access, target=target)
        seen = observe(named.hosts, None, access, report)
        kept, left_out = read_kept(named.hosts, seen, request.to, forks=access.forks)
        work = _work(site or _site_of(kept, request.spec), kept, request, report)
        work = replace(work, planned=with_absent(work.planned, {**named.absent, **left_out}))
        told = (*named.warnings, *_where_to(kept), *host_warnings(work.planned))
        plan = work.planned.plan
        if not any(host.changes for host in plan.hosts):
            hosts = prove_hosts(work, report=report)
            return RunResult(run="", plan=plan, hosts=hosts, diagnostics=(*told, *unobserved(work.planned)))
        work.steps.refuse_closed(work.planned)
        if not ask(plan, told):
            return declined(work.planned, told)
        return _run(work, request, report, told)


def _work(site: Site | None, kept: Sequence[Kept], request: RollbackRequest, report: Report) -> Work:
    fleet = Fleet(
        hosts=tuple(each.host for each in kept), wants={each.host.name: each.want for each in kept}, warnings=()
    )
    access, terms = request.access, Terms(disturb=request.disturb)
    waivers: tuple[Waiver, ...] = ()
    if site is not None:
        waivers = site.spec.waivers
        terms = terms_of(site.spec, take_over=False, disturb=request.disturb, no_rollback=True)
    planned = look_and_plan(fleet, access, report, lock="", waivers=waivers, terms=terms)
    work = Work(
        fleet=fleet,
        planned=_with_reasons(planned, {each.host.name: each.back.run for each in kept}),
        access=access,
        documents=kept[0].back.documents if kept else RunDocuments(spec="", lock=""),
        waivers=waivers,
        terms=terms,
        keep=Keep(back={each.host.name: each.back for each in kept}),
    )
    if site is None:
        return work
    steps = steps_of(site, fleet, planned, access)
    return replace(work, steps=steps, planned=in_order(work.planned, fleet, steps))


def _run(work: Work, request: RollbackRequest, report: Report, told: Sequence[Diagnostic]) -> RunResult:
    asked = {"target": request.target, "limit": request.access.limit, "to": request.to}
    with open_journal(site_folder(request.spec), "rollback", **asked) as journal:
        keep_documents(journal, work.fleet, work.documents)
        tell = told_to_journal(journal, report)
        with cancelled_by_interrupt(tell) as cancel:
            results = converge_hosts(work, journal=journal, report=tell, cancel=cancel)
        late = (interrupted(journal.command),) if cancel.is_set() else ()
        result = RunResult(
            run=str(journal.folder),
            plan=work.planned.plan,
            hosts=results,
            diagnostics=(*told, *unobserved(work.planned), *late, *log_trouble(journal)),
        )
        journal.result["status"] = int(result.status)
        return result


def _site_of(kept: Sequence[Kept], path: Path) -> Site | None:
    """The site as the hosts themselves keep it: drains and batches count for a way back too.

    Raises:
        GpuprovError: the kept spec cannot be read by this release.
    """
    text = next((each.spec for each in kept if each.spec), "")
    if not text:
        return None
    spec, diagnostics = load(text, f"the spec that {kept[0].host.name} keeps")
    if spec is None:
        raise GpuprovError(*diagnostics)
    return Site(path=path, text=text, spec=spec, warnings=())


def _with_reasons(planned: Planned, runs: dict[str, str]) -> Planned:
    """The plan, whose packages move because of the run and not because a lock says so."""

    def reason(change: Change, host: str) -> Change:
        return replace(change, reason=f"as in run {runs[host]}") if change.action in MOVES else change

    hosts = tuple(
        replace(plan, changes=tuple(reason(change, plan.host) for change in plan.changes), rollback=None)
        for plan in planned.plan.hosts
    )
    plan: Plan = replace(planned.plan, hosts=hosts)
    return replace(planned, plan=plan)


def _where_to(kept: Sequence[Kept]) -> tuple[Diagnostic, ...]:
    runs: dict[str, list[str]] = {}
    for each in kept:
        runs.setdefault(each.back.run, []).append(each.host.name)
    return tuple(
        Diagnostic(
            code="GP-BACK-004",
            address=run,
            summary=f"back to run {run}: {', '.join(hosts)}",
            hint="the spec and the lock here stay as they are: `gpuprov up` would bring the hosts forward again",
            severity=Severity.NOTE,
        )
        for run, hosts in runs.items()
    )
