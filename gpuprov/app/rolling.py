"""Bring hosts to their wants and prove it: the same for a rack, for cloud hosts, and for the builder of an image."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet
from gpuprov.app.keeping import Keep, keeping_of
from gpuprov.app.observe import observe, observe_settled, split
from gpuprov.app.planning import is_proven, plan_fleet, plan_of, play_want
from gpuprov.app.preflight import in_use, stranded
from gpuprov.app.steps import Steps, shows_gpus
from gpuprov.app.terms import Terms
from gpuprov.converge.locate import find_playbooks
from gpuprov.converge.runner import converge
from gpuprov.converge.types import HostOutcome, RunDocuments
from gpuprov.document.canonical import canonical_json
from gpuprov.model.change import HostPlan
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.host import Host
from gpuprov.model.planned import Planned
from gpuprov.model.progress import Progress, Report
from gpuprov.model.run import HostResult
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.model.waiver import Waiver
from gpuprov.plan.removal import removals
from gpuprov.rollout.rollout import roll_out
from gpuprov.rollout.types import Patience, Target, Tools
from gpuprov.store.journal import Journal
from gpuprov.store.lock import owner_now
from gpuprov.store.settings import reboot_timeout
from gpuprov.transport.ssh import connect


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """Hosts, what each should be, what was seen of them, and what that takes."""

    fleet: Fleet
    planned: Planned
    access: Access
    documents: RunDocuments
    """Spec and lock in full, as they are kept on every host; the lock is empty for a hand-back."""
    waivers: tuple[Waiver, ...] = ()
    terms: Terms = field(default_factory=Terms)
    """What the user agreed to beforehand."""
    steps: Steps = field(default_factory=Steps)
    """How many hosts at a time, and what is done around that, as the spec writes it."""
    keep: Keep | None = None
    """What hosts keep for a rollback, or go back to; None keeps nothing."""


def look_and_plan(
    fleet: Fleet,
    access: Access,
    report: Report,
    *,
    lock: str,
    waivers: tuple[Waiver, ...] = (),
    terms: Terms | None = None,
) -> Planned:
    """Probe hosts, waiting for package transactions that an earlier run left going, and plan what they need.

    Args:
        fleet: hosts and wants; every host has a want.
        access: how many at a time, and for how long.
        report: where progress goes.
        lock: the lock's digest, or empty for a hand-back.
        waivers: of the spec.
        terms: what the user agreed to beforehand; None for hosts that are ours alone, such as the builder of an image.

    Raises:
        GpuprovError: GP-ROLL-004 when a transaction does not end in time.
    """
    snapshots, not_observed = split(observe_settled(fleet.hosts, fleet, access, report))
    return plan_fleet(fleet, snapshots, not_observed, lock=lock, waivers=waivers, terms=terms)


def converge_hosts(work: Work, *, journal: Journal, report: Report, cancel: threading.Event) -> tuple[HostResult, ...]:
    """Bring every planned host to its want, batch by batch, and prove it; a host that is as wanted is not touched.

    Hosts that could not be observed are not in the result: `unobserved(work.planned)` tells of them.

    Args:
        work: hosts, wants, plans.
        journal: gets the steps, and the log and documents of the play.
        report: where progress goes.
        cancel: set to stop after the running batch.
    """
    targets = _targets(work)
    tools = _tools(work, journal, report, cancel)
    with journal.step("rollout", hosts=[target.host.name for target in targets]) as ended:
        results = roll_out(targets, tools=tools, patience=_patience(work.access), report=report, cancel=cancel)
        ended["hosts"] = {result.host: str(result.state) for result in results}
    return results


def prove_hosts(work: Work, *, report: Report) -> tuple[HostResult, ...]:
    """The results of hosts that are all as wanted; those never proven for their want run their verify commands."""
    return roll_out(
        _targets(work),
        tools=_looking_tools(work, report),
        patience=_patience(work.access),
        report=report,
        cancel=threading.Event(),
    )


def keep_documents(journal: Journal, fleet: Fleet, documents: RunDocuments) -> None:
    """Keep what the run was made from, so that another run, from another machine too, can be made from it."""
    journal.keep("spec.yaml", documents.spec)
    journal.keep("lock.json", documents.lock)
    for name, want in fleet.wants.items():
        journal.keep(f"wants/{name}.json", canonical_json(asdict(want)))


def told_to_journal(journal: Journal, report: Report) -> Report:
    """A report that also writes every line of progress into the run's log."""

    def tell(progress: Progress) -> None:
        journal.say(" ".join(part for part in (progress.phase, progress.subject, progress.text) if part))
        report(progress)

    return tell


def log_trouble(journal: Journal) -> tuple[Diagnostic, ...]:
    """A warning when the run's log could not be written to its end."""
    if not journal.log_trouble:
        return ()
    return (
        Diagnostic(
            code="GP-DOC-007",
            address=str(journal.log),
            summary=f"the run's log ends early: {journal.log_trouble.lower()}",
            hint="the run itself went on, and its journal is whole",
            severity=Severity.WARNING,
        ),
    )


def _targets(work: Work) -> list[Target]:
    plans = {plan.host: plan for plan in work.planned.plan.hosts}
    return [_target(work, host, plans[host.name]) for host in work.fleet.hosts if host.name in plans]


def _target(work: Work, host: Host, plan: HostPlan) -> Target:
    want, snapshot = work.fleet.wants[host.name], work.planned.snapshots[host.name]
    steps = work.steps.of(host)
    containers = shows_gpus(want, plan, snapshot, work.waivers)
    return Target(
        host=host,
        want=want,
        plan=plan,
        steps=steps,
        proven=is_proven(want, snapshot, more=containers or steps.drain is not None),
        before=snapshot,
        containers=containers,
        scheduler=work.steps.scheduler(host),
    )


def _patience(access: Access) -> Patience:
    return Patience(width=access.forks, reboot=reboot_timeout())


def _looking_tools(work: Work, report: Report) -> Tools:
    """The tools of a rollout that only looks."""

    def look(hosts: Sequence[Host]) -> Mapping[str, Snapshot | NotObserved]:
        return observe(hosts, work.fleet, work.access, report, known=work.planned.snapshots)

    return Tools(
        connect=lambda host: connect(host.connection),
        observe=look,
        converge=_no_play,
        plan=lambda target, snapshot: plan_of(target.want, snapshot, work.waivers),
        record=lambda _step, _event, _fields: None,
        in_use=lambda target, snapshot: in_use(target.want, target.plan, snapshot, work.terms),
        stranded=lambda target, snapshot: stranded(target.want, target.plan, snapshot),
    )


def _no_play(targets: Sequence[Target]) -> Mapping[str, HostOutcome]:
    raise GpuprovError(
        Diagnostic(code="GP-INT-001", summary=f"a run without changes was about to change {len(targets)} host(s)")
    )


def _tools(work: Work, journal: Journal, report: Report, cancel: threading.Event) -> Tools:
    looking = _looking_tools(work, report)

    def play(targets: Sequence[Target]) -> Mapping[str, HostOutcome]:
        # What was seen a moment ago, before this batch: it says what a waiver covers and what nobody can see.
        wants = {t.host.name: play_want(t.want, t.seen, work.waivers) for t in targets if t.seen is not None}
        result = converge(
            [(target.host, wants.get(target.host.name, target.want), removals(target.plan)) for target in targets],
            playbooks=find_playbooks(),
            folder=journal.folder,
            check=False,
            documents=work.documents,
            report=report,
            cancel=cancel,
            forks=work.access.forks,
            keeping=keeping_of(work.keep, targets, work.planned.snapshots, journal.name),
        )
        return result.hosts

    return replace(
        looking,
        converge=play,
        record=lambda step, event, fields: journal.write(event, step, **fields),
        owner=owner_now(["gpuprov", journal.command]),
    )
