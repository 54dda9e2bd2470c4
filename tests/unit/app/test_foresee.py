"""What apt says of a transaction goes into the plan, or leaves the host out; only hosts that need apt are asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from host_builders import edit, fresh, make_want, observation, satisfied

from gpuprov.app import foresee as module
from gpuprov.app.access import Access
from gpuprov.app.foresee import foresee
from gpuprov.app.hosts import Fleet
from gpuprov.app.planning import plan_fleet
from gpuprov.app.terms import Terms
from gpuprov.converge.look import Asked
from gpuprov.converge.types import Foresight, HostOutcome, HostStatus
from gpuprov.model.change import Action, Foreseen
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.host import Connection, Host
from gpuprov.model.planned import Planned
from gpuprov.model.progress import ignore_progress
from gpuprov.model.snapshot import Snapshot
from gpuprov.plan.removal import Removal

WANT = make_want()
WELL = HostOutcome(status=HostStatus.OK, others=("libc6 1 -> 2",), foresight=Foresight(download=7, growth=8), tasks=1)


def refused(code: str, *removed: str) -> HostOutcome:
    diagnostic = Diagnostic(code=code, address="node-1", summary="apt says no", detail="why", hint="do that")
    return HostOutcome(status=HostStatus.FAILED, diagnostics=(diagnostic,), removed=removed)


@dataclass
class Apt:
    """Answers one round after the other, and remembers what it was asked."""

    answers: list[HostOutcome]
    asked: list[Removal] = field(default_factory=list)

    def __call__(self, hosts: Sequence[Asked], **_: Any) -> dict[str, HostOutcome]:
        self.asked += [removal for _, _, removal, _ in hosts]
        return {host.name: self.answers.pop(0) for host, *_ in hosts}


def look(patch: pytest.MonkeyPatch, apt: Apt, snapshot: Snapshot, terms: Terms = Terms()) -> Planned:  # noqa: B008
    patch.setattr(module, "look", apt)
    host = Host(name="node-1", pool="train", target="onprem", connection=Connection(host="node-1", address="node-1"))
    fleet = Fleet(hosts=(host,), wants={"node-1": WANT}, warnings=())
    planned = plan_fleet(fleet, {"node-1": snapshot}, {}, lock="sha256:lock", waivers=(), terms=terms)
    return foresee(planned, fleet, access=Access(), terms=terms, waivers=(), report=ignore_progress)


def seen(**facts: Any) -> Snapshot:
    return edit(fresh(WANT), {name.replace("__", "."): observation(value) for name, value in facts.items()})


def test_what_apt_says_is_in_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    apt = Apt([WELL])
    (plan,) = look(monkeypatch, apt, seen()).plan.hosts
    assert plan.foreseen == Foreseen(others=("libc6 1 -> 2",), download=7, growth=8)


def test_a_host_whose_packages_stay_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    apt = Apt([])
    stopped = edit(satisfied(WANT), {'service["docker"].active': observation("inactive")})
    (plan,) = look(monkeypatch, apt, stopped).plan.hosts
    assert plan.changes
    assert plan.foreseen is None
    assert apt.asked == []


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        ({"apt__dpkg": ["nvidia-dkms-580"]}, "repair"),
        ({"apt__busy": [{"file": "/var/lib/dpkg/lock", "pid": "1", "user": "root", "command": "apt"}]}, "at work"),
    ],
)
def test_where_apt_cannot_tell_yet_that_is_said(
    facts: dict[str, Any], word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (plan,) = look(monkeypatch, Apt([]), seen(**facts)).plan.hosts
    assert plan.foreseen is not None
    assert word in plan.foreseen.untold


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (refused("GP-PLAN-002", "site-monitor"), "GP-PLAN-002"),
        (refused("GP-PLAN-002", "nvidia-driver-570", "site-monitor"), "GP-PLAN-002"),
        (refused("GP-PLAN-003"), "GP-PLAN-003"),
        (refused("GP-SRC-001"), "GP-SRC-001"),
        (refused("GP-CONV-003"), "GP-PRE-004"),
        (refused("GP-PLAN-002", "nvidia-driver-570", "docker-ce"), "GP-PRE-003"),
    ],
)
def test_a_host_where_apt_would_do_another_thing_is_left_out(
    outcome: HostOutcome, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = look(monkeypatch, Apt([outcome]), seen())
    assert planned.plan.hosts == ()
    assert planned.not_observed["node-1"].code == code
    assert planned.not_observed["node-1"].hint
    assert list(planned.plan.excluded) == ["node-1"]


def test_what_is_taken_over_is_in_the_plan_and_asked_about_again(monkeypatch: pytest.MonkeyPatch) -> None:
    apt = Apt([refused("GP-PLAN-002", "nvidia-driver-570"), WELL])
    there = {'package["nvidia-driver-570"].version': observation("570.1-1")}
    (plan,) = look(monkeypatch, apt, edit(seen(), there), Terms(take_over=True)).plan.hosts
    (change,) = [change for change in plan.changes if change.action is Action.TAKE_OVER]
    assert (change.subject, change.before, change.after) == ("nvidia-driver-570", "570.1-1", "")
    assert [removal.take_over for removal in apt.asked] == [(), ("nvidia-driver-570",)]
    assert apt.asked[1].packages == ("nvidia-driver-570",)
    assert plan.foreseen is not None


def test_the_operators_own_package_is_never_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    apt = Apt([refused("GP-PLAN-002", "nvidia-driver-570", "site-monitor")])
    assert look(monkeypatch, apt, seen(), Terms(take_over=True)).plan.hosts == ()
    assert len(apt.asked) == 1


def test_taking_over_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    apt = Apt([refused("GP-PLAN-002", f"nvidia-{n}") for n in range(3)])
    planned = look(monkeypatch, apt, seen(), Terms(take_over=True))
    assert planned.not_observed["node-1"].code == "GP-PLAN-002"


def test_headers_that_apt_does_not_bring_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = {"host__kernel__release": "k1", "host__kernel__next": "k1", "host__kernel__headers": None}
    missing = look(monkeypatch, Apt([WELL]), seen(**kernels))
    assert missing.not_observed["node-1"].code == "GP-PRE-005"
    brought = HostOutcome(status=HostStatus.OK, others=("linux-headers-k1 absent -> 1",), foresight=Foresight())
    assert len(look(monkeypatch, Apt([brought]), seen(**kernels)).plan.hosts) == 1


@pytest.mark.parametrize(
    ("looked", "agreed", "left_out"),
    [
        ({"kept": ["libcuda1 570.1-1"], "fetch": [], "lost": [], "bytes": 9}, False, False),
        ({"kept": [], "fetch": ["libcuda1 570.1-1"], "lost": [], "bytes": 0}, False, False),
        ({"kept": [], "fetch": [], "lost": ["libcuda1 570.1-1"], "bytes": 0}, False, True),
        ({"kept": [], "fetch": [], "lost": ["libcuda1 570.1-1"], "bytes": 0}, True, False),
    ],
)
def test_a_host_without_a_way_back_is_left_out_unless_that_was_agreed_to(
    looked: dict[str, Any], monkeypatch: pytest.MonkeyPatch, *, agreed: bool, left_out: bool
) -> None:
    outcome = HostOutcome(status=HostStatus.OK, foresight=Foresight(rollback=looked), tasks=1)
    there = edit(satisfied(WANT), {'package["libcuda1"].version': observation("570.1-1")})
    planned = look(monkeypatch, Apt([outcome]), there, Terms(no_rollback=agreed))
    if left_out:
        told = planned.not_observed["node-1"]
        assert (told.code, told.detail) == ("GP-BACK-001", "libcuda1 570.1-1")
        assert "--no-rollback" in told.hint
        assert planned.plan.hosts == ()
    else:
        (plan,) = planned.plan.hosts
        assert plan.rollback is not None
        assert (plan.rollback.kept, plan.rollback.fetched, plan.rollback.lost, plan.rollback.size) == (
            tuple(looked["kept"]), tuple(looked["fetch"]), tuple(looked["lost"]), looked["bytes"],
        )  # fmt: skip
