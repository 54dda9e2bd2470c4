"""`up` and `destroy`: bring hosts to their wants, or hand them back; the same way, with another want."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet, open_fleet, open_released_fleet
from gpuprov.app.interrupt import cancelled_by_interrupt, interrupted
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
from gpuprov.app.site import Site, open_lock, open_site
from gpuprov.app.staleness import refuse_stale_lock
from gpuprov.converge.types import RunDocuments
from gpuprov.model.change import Plan
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.progress import Report
from gpuprov.model.run import RunResult
from gpuprov.store.journal import Journal, open_journal
from gpuprov.store.lock import hold_site

Ask = Callable[[Plan, Sequence[Diagnostic]], bool]
"""Shows a plan and asks whether to go on; raises GpuprovError when it cannot ask."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UpRequest:
    """What `up` or `destroy` was asked to do."""

    spec: Path
    access: Access
    release: bool = False
    """True for `destroy`: the wants are empty."""


def up(request: UpRequest, *, ask: Ask, report: Report) -> RunResult:
    """Probe, plan, ask, roll out, prove.

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
    with hold_site(site.state, ["gpuprov", command]):
        fleet, lock_digest, lock_text = _open(site, request)
        planned = look_and_plan(fleet, request.access, report, lock=lock_digest, waivers=site.spec.waivers)
        work = Work(
            fleet=fleet,
            planned=planned,
            access=request.access,
            documents=RunDocuments(spec=site.text, lock=lock_text),
            waivers=site.spec.waivers,
            batches={name: pool.rollout.batch for name, pool in site.spec.pools.items()},
        )
        told = (*site.warnings, *fleet.warnings)
        late = unobserved(planned)
        if not any(host.changes for host in planned.plan.hosts):
            results = prove_hosts(work, report=report)
            return RunResult(run="", plan=planned.plan, hosts=results, diagnostics=(*told, *late))
        if not ask(planned.plan, told):
            declined = Diagnostic(code="GP-RUN-005", summary="nothing was changed", severity=Severity.NOTE)
            return RunResult(run="", plan=planned.plan, hosts=(), diagnostics=(*told, *late, declined))
        with open_journal(site.state, command) as journal:
            keep_documents(journal, fleet, work.documents)
            return _run(work, journal, report, (*told, *late))


def _open(site: Site, request: UpRequest) -> tuple[Fleet, str, str]:
    if request.release:
        return open_released_fleet(site, request.access), "", ""
    lock, text = open_lock(site)
    refuse_stale_lock(site, lock)
    return open_fleet(site, lock, request.access), lock.digest, text


def _run(work: Work, journal: Journal, report: Report, told: Sequence[Diagnostic]) -> RunResult:
    tell = told_to_journal(journal, report)
    with cancelled_by_interrupt(tell) as cancel:
        results = converge_hosts(work, journal=journal, report=tell, cancel=cancel)
    late = (interrupted(),) if cancel.is_set() else ()
    return RunResult(
        run=str(journal.folder),
        plan=work.planned.plan,
        hosts=results,
        diagnostics=(*told, *late, *log_trouble(journal)),
    )
