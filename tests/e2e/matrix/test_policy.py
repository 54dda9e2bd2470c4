"""An operator's whole life under the printed policy; and what is denied when any statement of it is taken out."""

from collections.abc import Callable
from pathlib import Path

import pytest
from policy_life import Life, life, the_ground, whole_life

from gpuprov.cloud.decide.grants import COMMANDS
from gpuprov.cloud.decide.operator import grants, operator_policy
from gpuprov.lab.aws.policy.language import Asked, allowed

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(1200)]


def test_every_statement_is_needed_and_nothing_more(tmp_path: Path) -> None:
    ground = the_ground()
    policy = operator_policy(ground, COMMANDS)
    every = lived(tmp_path, policy)
    asked = [one for one in every if allowed([policy], one)]
    # Who may not list file systems has none that could be lost: the spec has no such storage.
    assert {one.action for one in every if one not in asked} == {"elasticfilesystem:DescribeFileSystems"}

    unproved = {grant.sid for grant in grants(ground) if grant.unproved}
    needed = {}
    for statement in policy["Statement"]:
        rest = {**policy, "Statement": [each for each in policy["Statement"] if each is not statement]}
        needed[statement["Sid"]] = sorted({one.action for one in asked if not allowed([rest], one)})
    print("\n".join(f"{sid}: {', '.join(actions) or 'nothing'}" for sid, actions in needed.items()))  # noqa: T201 - the table
    assert {sid for sid, actions in needed.items() if not actions} == unproved

    used = {one.action for one in asked}
    given = {a for each in policy["Statement"] if each["Sid"] not in unproved for a in each["Action"]}
    assert given - used == set()


def lived(folder: Path, policy: dict[str, object]) -> list[Asked]:
    """What was asked for in a life under a policy."""
    with life(folder) as made:
        guard = made.cloud.account.guard
        guard.put_in_force([policy])
        whole_life(made, free=_with_all_rights(made))
        return list(guard.asked.values())


def _with_all_rights(made: Life) -> Callable[[Callable[[], None]], None]:
    def free(do: Callable[[], None]) -> None:
        guard = made.cloud.account.guard
        kept, guard.policies = guard.policies, None
        try:
            do()
        finally:
            guard.policies = kept

    return free
