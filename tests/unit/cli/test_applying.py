"""The one question: it counts everything, and data is typed before it goes."""

import click
import pytest

from gpuprov.cli import applying
from gpuprov.model.change import Action, Change, HostPlan, Plan
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.facet import Cost
from gpuprov.model.resource import NewHost, ResourceAction, ResourceChange, ResourcePlan

CHANGED = HostPlan(
    host="n1",
    pool="p",
    changes=(
        Change(address="x", action=Action.WRITE, subject="/x", before="", after="", reason="", cost=Cost.NOTHING),
    ),
)
NEW = NewHost(name="a", pool="p", instance="t", image="i", packages=())


def plan(*actions: ResourceAction, hosts: tuple[HostPlan, ...] = (), new: int = 0) -> Plan:
    changes = tuple(
        ResourceChange(address=f"k.{i}", type="t", action=action, urn=str(i)) for i, action in enumerate(actions)
    )
    return Plan(lock="", wants={}, hosts=hosts, resources=ResourcePlan(changes=changes, new_hosts=(NEW,) * new))


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        (plan(hosts=(CHANGED,)), "Change 1 host(s)?"),
        (plan(ResourceAction.DELETE), "Delete 1 resource(s) in the cloud?"),
        (
            plan(ResourceAction.CREATE, ResourceAction.CREATE, ResourceAction.UPDATE, hosts=(CHANGED,), new=1),
            "Make 2, change 1 resource(s) in the cloud and set up 1 new host(s) and change 1 host(s)?",
        ),
    ],
)
def test_the_question_counts_what_would_happen(given: Plan, asked: str) -> None:
    assert applying.question(given) == asked


def test_without_a_terminal_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    with pytest.raises(GpuprovError) as caught:
        applying.confirm(plan(ResourceAction.CREATE), ())
    assert [d.code for d in caught.value.diagnostics] == ["GP-RUN-002"]


@pytest.mark.parametrize(("typed", "goes_on"), [("datasets", True), ("dataset", False), ("", False), ("y", False)])
def test_data_goes_only_when_its_name_was_typed(monkeypatch: pytest.MonkeyPatch, typed: str, *, goes_on: bool) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: True)
    monkeypatch.setattr(click, "prompt", lambda *_, **__: typed)
    assert applying.confirm(plan(ResourceAction.DELETE), ("datasets",)) is goes_on


def test_who_says_no_is_not_asked_for_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: False)
    monkeypatch.setattr(click, "prompt", lambda *_, **__: pytest.fail("asked"))
    assert not applying.confirm(plan(ResourceAction.DELETE), ("datasets",))
