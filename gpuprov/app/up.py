"""`up` and `destroy`: bring hosts to their wants, or hand them back; the same way, with another want."""

import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet, open_fleet, open_released_fleet
from gpuprov.app.observe import observe, observe_settled, split
from gpuprov.app.planning import is_proven, plan_fleet, plan_of, play_want
from gpuprov.app.preview import unobserved
from gpuprov.app.site import Site, open_lock, open_site
from gpuprov.app.staleness import refuse_stale_lock
from gpuprov.converge.locate import find_playbooks
from gpuprov.converge.runner import converge
from gpuprov.converge.types import HostOutcome, Removal, RunDocuments
from gpuprov.document.canonical import canonical_json
from gpuprov.model.change import Plan
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.host import Host
from gpuprov.model.planned import Planned
from gpuprov.model.progress import Progress, Report
from gpuprov.model.run import RunResult
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.plan.removal import removals
from gpuprov.rollout.rollout import roll_out
from gpuprov.rollout.types import Patience, Target, Tools
from gpuprov.store.journal import Journal, open_journal
from gpuprov.store.lock import hold_site
from gpuprov.transport.ssh import connect

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
        seen = observe_settled(fleet.hosts, fleet, request.access, report)
        snapshots, not_observed = split(seen)
        waivers = site.spec.waivers
        planned = plan_fleet(fleet, snapshots, not_observed, lock=lock_digest, waivers=waivers)
        told = (*site.warnings, *fleet.warnings)
        if not any(host.changes for host in planned.plan.hosts):
            return _nothing_to_do(site, fleet, planned, request.access, report, told)
        if not ask(planned.plan, told):
            declined = Diagnostic(code="GP-RUN-005", summary="nothing was changed", severity=Severity.NOTE)
            return RunResult(run="", plan=planned.plan, hosts=(), diagnostics=(*told, *unobserved(planned), declined))
        with open_journal(site.state, command) as journal:
            _keep_documents(journal, site, fleet, lock_text)
            return _run(
                site, fleet, planned, request.access, journal, report, RunDocuments(spec=site.text, lock=lock_text)
            )


def _open(site: Site, request: UpRequest) -> tuple[Fleet, str, str]:
    if request.release:
        return open_released_fleet(site, request.access), "", ""
    lock, text = open_lock(site)
    refuse_stale_lock(site, lock)
    return open_fleet(site, lock, request.access), lock.digest, text


def _nothing_to_do(
    site: Site, fleet: Fleet, planned: Planned, access: Access, report: Report, told: Sequence[Diagnostic]
) -> RunResult:
    """Every host is as wanted; those that were never proven for this want run their verify commands."""
    tools = replace(_looking_tools(site, fleet, access, report), converge=_no_play)
    results = roll_out(
        _targets(site, fleet, planned), tools=tools, patience=_patience(access), report=report, cancel=threading.Event()
    )
    return RunResult(run="", plan=planned.plan, hosts=results, diagnostics=(*told, *unobserved(planned)))


def _targets(site: Site, fleet: Fleet, planned: Planned) -> list[Target]:
    plans = {plan.host: plan for plan in planned.plan.hosts}
    return [
        Target(
            host=host,
            want=fleet.wants[host.name],
            plan=plans[host.name],
            batch=site.pool(host.pool).rollout.batch,
            proven=is_proven(fleet.wants[host.name], planned.snapshots[host.name]),
        )
        for host in fleet.hosts
        if host.name in plans
    ]


def _patience(access: Access) -> Patience:
    return Patience(width=access.forks)


def _run(
    site: Site,
    fleet: Fleet,
    planned: Planned,
    access: Access,
    journal: Journal,
    report: Report,
    documents: RunDocuments,
) -> RunResult:
    targets = _targets(site, fleet, planned)

    def tell(progress: Progress) -> None:
        journal.say(" ".join(part for part in (progress.phase, progress.subject, progress.text) if part))
        report(progress)

    with cancelled_by_interrupt(tell) as cancel:
        tools = _tools(site, fleet, access, journal, tell, documents, cancel)
        with journal.step("rollout", hosts=[target.host.name for target in targets]) as ended:
            results = roll_out(targets, tools=tools, patience=_patience(access), report=tell, cancel=cancel)
            ended["hosts"] = {result.host: str(result.state) for result in results}
    late = [_interrupted()] if cancel.is_set() else []
    if journal.log_trouble:
        late.append(_log_trouble(journal))
    return RunResult(
        run=str(journal.folder),
        plan=planned.plan,
        hosts=results,
        diagnostics=(*site.warnings, *fleet.warnings, *unobserved(planned), *late),
    )


def _looking_tools(site: Site, fleet: Fleet, access: Access, report: Report) -> Tools:
    """The tools of a rollout that only looks."""
    waivers = site.spec.waivers

    def look(hosts: Sequence[Host]) -> Mapping[str, Snapshot | NotObserved]:
        return observe(hosts, fleet, access, report)

    return Tools(
        connect=lambda host: connect(host.connection),
        observe=look,
        converge=_no_play,
        plan=lambda target, snapshot: plan_of(target.want, snapshot, waivers),
        record=lambda _step, _event, _fields: None,
    )


def _no_play(targets: Sequence[Target]) -> Mapping[str, HostOutcome]:
    raise GpuprovError(
        Diagnostic(code="GP-INT-001", summary=f"a run without changes was about to change {len(targets)} host(s)")
    )


def _tools(
    site: Site,
    fleet: Fleet,
    access: Access,
    journal: Journal,
    report: Report,
    documents: RunDocuments,
    cancel: threading.Event,
) -> Tools:
    waivers = site.spec.waivers
    looking = _looking_tools(site, fleet, access, report)

    def play(targets: Sequence[Target]) -> Mapping[str, HostOutcome]:
        # What was seen a moment ago, before this batch: it says what a waiver covers and what nobody can see.
        seen = looking.observe([target.host for target in targets])
        wants = {
            t.host.name: play_want(t.want, s, waivers) for t in targets if isinstance(s := seen[t.host.name], Snapshot)
        }
        result = converge(
            [(target.host, wants.get(target.host.name, target.want), _removal(target)) for target in targets],
            playbooks=find_playbooks(),
            folder=journal.folder,
            check=False,
            documents=documents,
            report=report,
            cancel=cancel,
            forks=access.forks,
        )
        return result.hosts

    return replace(looking, converge=play, record=lambda step, event, fields: journal.write(event, step, **fields))


def _keep_documents(journal: Journal, site: Site, fleet: Fleet, lock_text: str) -> None:
    """Keep what the run was made from, so that another run, from another machine too, can be made from it."""
    journal.keep("spec.yaml", site.text)
    journal.keep("lock.json", lock_text)
    for name, want in fleet.wants.items():
        journal.keep(f"wants/{name}.json", canonical_json(asdict(want)))


def _removal(target: Target) -> Removal:
    gone = removals(target.plan)
    return Removal(
        packages=gone.packages, files=gone.files, sources=gone.sources, release=gone.release, restart=gone.restart
    )


class cancelled_by_interrupt:  # noqa: N801 - reads as what it does: with cancelled_by_interrupt(...) as cancel
    """While open, the first Ctrl-C asks the rollout to stop after the running batch; the second stops it now."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._event = threading.Event()

    def __enter__(self) -> threading.Event:
        """Take the signal, where this is the main thread."""
        self._main = threading.current_thread() is threading.main_thread()
        if self._main:
            self._before = signal.signal(signal.SIGINT, self._on_signal)
        return self._event

    def __exit__(self, *_: object) -> None:
        """Give the signal back."""
        if self._main:
            signal.signal(signal.SIGINT, self._before)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self._event.is_set():
            raise KeyboardInterrupt
        self._event.set()
        text = (
            "stopping after the step that is running; once more to stop now (a package transaction on a host goes on)"
        )
        self._report(Progress(phase="interrupt", text=text, finished=True))


def _log_trouble(journal: Journal) -> Diagnostic:
    return Diagnostic(
        code="GP-DOC-007",
        address=str(journal.log),
        summary=f"the run's log ends early: {journal.log_trouble.lower()}",
        hint="the run itself went on, and its journal is whole",
        severity=Severity.WARNING,
    )


def _interrupted() -> Diagnostic:
    return Diagnostic(
        code="GP-RUN-003",
        summary="interrupted; the step that was running has ended, nothing else was begun",
        hint="run the same command again: it looks at every host and goes on from what it finds",
    )
