"""A kept plan against a fresh look: each thing that may move between them, and what is no move."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from host_builders import edit, make_want, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.model.change import Foreseen, HostPlan, Plan
from gpuprov.model.fact import Known
from gpuprov.model.planned import Planned
from gpuprov.model.resource import ResourceAction, ResourceChange, ResourcePlan
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.plan.outdated import outdated
from gpuprov.plan.plan import plan_host
from gpuprov.want.expectations import expectations
from gpuprov.want.owned import owned_of

WANT = make_want()
HELD = 'package["libcuda1"].held'
DRIFTED = edit(satisfied(WANT), {HELD: Known(value=False)})
GOOD = satisfied(WANT)
MADE = ResourceChange(address="instance.x", type="t", action=ResourceAction.CREATE, urn="u")

Edit = Callable[[Planned], Planned]


def host_plan(name: str, snapshot: Snapshot) -> HostPlan:
    found = compare_want(expectations(WANT, owned_of(snapshot)), snapshot)
    return replace(plan_host(found, WANT, snapshot), host=name)


def planned(**snapshots: Snapshot) -> Planned:
    hosts = tuple(host_plan(name, snapshot) for name, snapshot in snapshots.items())
    plan = Plan(
        lock="sha256:1", wants=dict.fromkeys(snapshots, "sha256:w"), hosts=hosts, order=(("a",),), drains={"a": "slurm"}
    )
    return Planned(plan=plan, snapshots=snapshots, not_observed={})


def with_plan(now: Planned, **fields: object) -> Planned:
    return replace(now, plan=replace(now.plan, **fields))  # type: ignore[arg-type]


def seen(**snapshots: Snapshot) -> Edit:
    def later(now: Planned) -> Planned:
        fresh = planned(**{**now.snapshots, **snapshots})
        return replace(fresh, plan=replace(now.plan, hosts=fresh.plan.hosts))

    return later


def lost(name: str) -> Edit:
    def later(now: Planned) -> Planned:
        hosts = tuple(host for host in now.plan.hosts if host.host != name)
        gone = {name: NotObserved(host=name, code="GP-SSH-001", reason="no answer")}
        return replace(with_plan(now, hosts=hosts, excluded={name: "no answer"}), not_observed=gone)

    return later


def first_host(**fields: object) -> Edit:
    def later(now: Planned) -> Planned:
        first, *rest = now.plan.hosts
        return with_plan(now, hosts=(replace(first, **fields), *rest))  # type: ignore[arg-type]

    return later


CASES: dict[str, tuple[Edit, list[tuple[str, str]]]] = {
    "nothing": (lambda now: now, []),
    "another lock, and with it all wants": (
        lambda now: with_plan(now, lock="sha256:2", wants=dict.fromkeys("ab", "sha256:v")),
        [("GP-PLAN-004", "lock")],
    ),
    "another want": (
        lambda now: with_plan(now, wants={"a": "sha256:v", "b": "sha256:w"}),
        [("GP-PLAN-004", "a")],
    ),
    "a host more": (lambda now: with_plan(now, wants={**now.plan.wants, "c": "sha256:w"}), [("GP-PLAN-004", "c")]),
    "a host less": (lambda now: with_plan(now, wants={"a": "sha256:w"}), [("GP-PLAN-004", "b")]),
    "a host that booted": (seen(a=edit(DRIFTED, {"host.boot_id": Known("boot-2")})), [("GP-PLAN-001", "a")]),
    "a host as wanted that booted": (seen(b=edit(GOOD, {"host.boot_id": Known("boot-2")})), []),
    "a host that was mended by hand": (seen(a=GOOD), [("GP-PLAN-001", "a")]),
    "a host that drifted": (seen(b=DRIFTED), [("GP-PLAN-001", "b")]),
    "a host to change that does not answer": (lost("a"), [("GP-PLAN-001", "a")]),
    "a host as wanted that does not answer": (lost("b"), []),
    "a package beside": (
        first_host(foreseen=Foreseen(others=("libssl3 1 -> 2",))),
        [("GP-PLAN-001", "a")],
    ),
    "a smaller download": (first_host(foreseen=Foreseen(download=5)), []),
    "a job on the GPUs": (first_host(disturbs=("container train-7",)), [("GP-PLAN-001", "a")]),
    "a resource": (
        lambda now: with_plan(now, resources=ResourcePlan(changes=(MADE,))),
        [("GP-PLAN-004", "instance.x")],
    ),
    "resources as they are": (lambda now: with_plan(now, resources=ResourcePlan(unchanged=9)), []),
    "no drain": (lambda now: with_plan(now, drains={}), [("GP-PLAN-004", "a")]),
    "another order": (lambda now: with_plan(now, order=()), [("GP-PLAN-004", "rollout")]),
}


@pytest.mark.parametrize("case", CASES)
def test_what_moved_is_named(case: str) -> None:
    later, told = CASES[case]
    before = planned(a=DRIFTED, b=GOOD)
    found = outdated(before.plan, later(before), limited=False)
    assert [(d.code, d.address) for d in found] == told
    assert all(d.hint for d in found)


def test_what_moved_on_a_host_is_said() -> None:
    before = planned(a=DRIFTED)
    (told,) = outdated(before.plan, seen(a=GOOD)(before), limited=False)
    assert HELD in told.detail
    (told,) = outdated(before.plan, first_host(disturbs=("container train-7",))(before), limited=False)
    assert "container train-7" in told.detail


def test_a_limit_leaves_hosts_of_the_plan_alone() -> None:
    before = planned(a=DRIFTED, b=GOOD)
    alone = with_plan(planned(b=GOOD), drains={})
    assert outdated(before.plan, alone, limited=True) == ()
    assert [d.address for d in outdated(before.plan, alone, limited=False)] == ["a"]


def test_a_host_that_the_plan_left_out_is_not_changed_unseen() -> None:
    before = lost("a")(planned(a=DRIFTED, b=GOOD))
    (told,) = outdated(before.plan, planned(a=DRIFTED, b=GOOD), limited=False)
    assert (told.code, told.address) == ("GP-PLAN-004", "a")
    assert "no answer" in told.summary
    assert outdated(before.plan, with_plan(planned(a=GOOD, b=GOOD)), limited=False) == ()
