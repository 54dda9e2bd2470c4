from itertools import permutations

from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.plan.order import order

IN_ORDER = (
    (Action.REPAIR, "dpkg"),
    (Action.WRITE, "/etc/apt/keyrings/gpuprov-nvidia.asc"),
    (Action.DELETE, "/etc/apt/sources.list.d/gpuprov-old.sources"),
    (Action.INSTALL, "a"),
    (Action.REMOVE, "b"),
    (Action.HOLD, "a"),
    (Action.WRITE, "/etc/motd"),
    (Action.ENABLE, "docker"),
    (Action.REBOOT, "node-1"),
    (Action.START, "docker"),
    (Action.RESTART, "dcgm"),
)


def change(action: Action, subject: str) -> Change:
    return Change(
        address=f"{action}-{subject}",
        action=action,
        subject=subject,
        before="",
        after="",
        reason="",
        cost=Cost.NOTHING,
    )


def test_every_action_has_a_place() -> None:
    assert {change.action for change in order(change(action, "x") for action in Action)} == set(Action)


def test_changes_come_in_one_order_however_they_were_found() -> None:
    wanted = tuple(change(action, subject) for action, subject in IN_ORDER)
    assert order(reversed(wanted)) == wanted
    for head in permutations(wanted[:5]):
        assert order((*head, *wanted[5:])) == wanted


def test_a_load_comes_before_the_units_that_need_it() -> None:
    found = order([change(Action.START, "dcgm"), change(Action.LOAD, "nvidia"), change(Action.ENABLE, "dcgm")])
    assert [each.action for each in found] == [Action.ENABLE, Action.LOAD, Action.START]
