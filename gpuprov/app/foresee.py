"""Ask apt on each host, before anything is touched, what the package transaction would do; nothing stays there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet
from gpuprov.app.planning import play_want, with_absent
from gpuprov.app.preflight import is_broken, is_busy, judge_host, refusal
from gpuprov.app.terms import Terms
from gpuprov.converge.locate import find_playbooks
from gpuprov.converge.look import Asked, look
from gpuprov.converge.types import HostOutcome, Keeping
from gpuprov.model.address import member_address
from gpuprov.model.change import Action, Change, Foreseen, HostPlan
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Known
from gpuprov.model.host import Host
from gpuprov.model.planned import Planned
from gpuprov.model.progress import Report
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.model.waiver import Waiver
from gpuprov.plan.order import order
from gpuprov.plan.packages import TRANSACTION
from gpuprov.plan.removal import removals
from gpuprov.plan.rollback import with_sight

_ROUNDS: Final = 3
"""Apt names what it would remove all at once; a removal that only another one makes necessary takes a further round."""
_FAMILIES: Final = (
    "nvidia",
    "libnvidia",
    "cuda-drivers",
    "libcuda1",
    "xserver-xorg-video-nvidia",
    "docker",
    "containerd",
)
"""Beginnings of names of what may stand in the stack's place: drivers, and container engines."""
_SHOWN: Final = 3
_HALF_DONE: Final = "the package system is half done: its repair comes first"
_IN_USE: Final = "another program is at work in the package system; the transaction is judged once it has ended"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asking:
    """What all rounds of asking need."""

    fleet: Fleet
    access: Access
    terms: Terms
    waivers: tuple[Waiver, ...]
    report: Report


@dataclass(kw_only=True, slots=True)
class _Answers:
    """What came of it, by host."""

    plans: dict[str, HostPlan] = field(default_factory=dict)
    refused: dict[str, NotObserved] = field(default_factory=dict)


def foresee(
    planned: Planned,
    fleet: Fleet,
    *,
    access: Access,
    terms: Terms,
    waivers: tuple[Waiver, ...],
    report: Report,
) -> Planned:
    """A plan with what apt itself says of each host's transaction; hosts where that is not the plan are left out.

    Only hosts whose packages move are asked, each in a temporary apt root of its own.

    Args:
        planned: the plan so far.
        fleet: hosts and wants.
        access: how many hosts at a time.
        terms: whether packages of another origin may go.
        waivers: of the spec.
        report: where progress goes.
    """
    asking = _Asking(fleet=fleet, access=access, terms=terms, waivers=waivers, report=report)
    answers = _Answers()
    open_plans = {}
    for plan in planned.plan.hosts:
        if any(change.action in TRANSACTION for change in plan.changes):
            snapshot = planned.snapshots[plan.host]
            untold = _HALF_DONE if is_broken(snapshot) else _IN_USE if is_busy(snapshot) else ""
            if untold:
                answers.plans[plan.host] = replace(plan, foreseen=Foreseen(untold=untold))
            else:
                open_plans[plan.host] = plan
    for _ in range(_ROUNDS):
        if open_plans:
            open_plans = _ask(open_plans, planned.snapshots, asking, answers)
    answers.refused |= {name: _endless(name) for name in open_plans}
    return _with_answers(planned, answers, asking)


def _ask(
    plans: Mapping[str, HostPlan], snapshots: Mapping[str, Snapshot], asking: _Asking, answers: _Answers
) -> dict[str, HostPlan]:
    """Ask once; returns the plans that take something over, and must be asked about again."""
    outcomes = _look(plans, snapshots, asking)
    again = {}
    for name, plan in plans.items():
        outcome = outcomes[name]
        foreign = _foreign(outcome)
        if not outcome.diagnostics:
            answers.plans[name] = _foreseen(plan, outcome)
        elif foreign and asking.terms.take_over:
            again[name] = _taking_over(plan, foreign, snapshots[name])
        else:
            answers.refused[name] = _refused(name, outcome, foreign)
    return again


def _look(
    plans: Mapping[str, HostPlan], snapshots: Mapping[str, Snapshot], asking: _Asking
) -> Mapping[str, HostOutcome]:
    hosts = [host for host in asking.fleet.hosts if host.name in plans]

    def of(host: Host) -> Asked:
        whole = asking.fleet.wants[host.name]
        want = play_want(whole, snapshots[host.name], asking.waivers)
        return host, want, removals(plans[host.name]), Keeping(run="", want=whole)

    return look(
        [of(host) for host in hosts], playbooks=find_playbooks(), limit=asking.access.forks, report=asking.report
    )


def _foreign(outcome: HostOutcome) -> tuple[str, ...]:
    """What apt would remove, where all of it stands in the stack's own place; else nothing: the rest is refused."""
    return outcome.removed if all(name.startswith(_FAMILIES) for name in outcome.removed) else ()


def _foreseen(plan: HostPlan, outcome: HostOutcome) -> HostPlan:
    found = outcome.foresight
    if found is None:
        return plan
    foreseen = Foreseen(others=outcome.others, download=found.download, growth=found.growth)
    return with_sight(replace(plan, foreseen=foreseen), found.rollback)


def _taking_over(plan: HostPlan, names: Sequence[str], snapshot: Snapshot) -> HostPlan:
    """The plan with packages of another origin among what goes."""
    gone = [
        Change(
            address=member_address("package", name, "version"),
            action=Action.TAKE_OVER,
            subject=name,
            before=str(seen.value) if isinstance(seen := _version(name, snapshot), Known) else "",
            after="",
            reason="somebody else installed it, and the stack takes its place (--take-over)",
            cost=Cost.REBOOT if plan.reboot else Cost.NOTHING,
        )
        for name in names
    ]
    return replace(plan, changes=order((*plan.changes, *gone)))


def _version(name: str, snapshot: Snapshot) -> object:
    return snapshot.observe(member_address("package", name, "version"))


def _refused(host: str, outcome: HostOutcome, foreign: Sequence[str]) -> NotObserved:
    """Why a host is left out: what apt would do there is not the plan, or it could not be asked."""
    first = outcome.diagnostics[0]
    if foreign:
        return NotObserved(
            host=host,
            code="GP-PRE-003",
            reason=f"packages of another origin stand in the stack's place: {', '.join(foreign)}",
            detail=first.detail,
            hint="`preview --take-over` shows what would go and come; `up --take-over` does it, in one transaction",
        )
    code = "GP-PRE-004" if first.code == "GP-CONV-003" else first.code
    return NotObserved(host=host, code=code, reason=first.summary, detail=first.detail, hint=first.hint)


def _no_way_back(plan: HostPlan, terms: Terms) -> NotObserved | None:
    """A host whose old packages no source has is left alone, unless that was agreed to."""
    lost = plan.rollback.lost if plan.rollback is not None else ()
    if not lost or terms.no_rollback:
        return None
    more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    return NotObserved(
        host=plan.host,
        code="GP-BACK-001",
        reason=f"a rollback would not be possible: no source has {', '.join(lost[:_SHOWN])}{more}",
        detail="\n".join(lost),
        hint="offer these packages in one of the host's sources, or give --no-rollback: there is no way back then",
    )


def _endless(host: str) -> NotObserved:
    return NotObserved(
        host=host,
        code="GP-PLAN-002",
        reason=f"apt named other packages to remove in each of {_ROUNDS} rounds",
        hint="remove the packages of another origin by hand, then run again",
    )


def _with_answers(planned: Planned, answers: _Answers, asking: _Asking) -> Planned:
    """The plan with all answers, once more before the rules: what comes beside the plan is known now."""
    refused = dict(answers.refused)
    for name, plan in answers.plans.items():
        told = plan.foreseen
        # Where apt was not asked, a dependency may still bring what seems to be missing.
        comes = [move.split(" ")[0] for move in told.others] if told and not told.untold else None
        judged = judge_host(asking.fleet.wants[name], plan, planned.snapshots[name], asking.terms, comes=comes)
        late = refusal(judged) or _no_way_back(plan, asking.terms)
        if late is not None:
            refused[name] = late
    hosts = tuple(answers.plans.get(plan.host, plan) for plan in planned.plan.hosts if plan.host not in refused)
    return with_absent(replace(planned, plan=replace(planned.plan, hosts=hosts)), refused)
