"""Operators' whole lives under the printed policies; and what is denied when any statement of one is taken out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from policy_life import life
from policy_lives import STATES, TRIALS, Trial

from gpuprov.cloud.decide.operator import grants, operator_policy
from gpuprov.lab.aws.policy.guard import Guard
from gpuprov.lab.aws.policy.language import Asked, allowed

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(2400)]


def test_every_statement_is_needed_and_nothing_more(tmp_path: Path) -> None:
    """Each command has its own policy alone while it runs; what was asked then decides about each statement."""
    needed: dict[str, set[str]] = {}
    given: dict[str, set[str]] = {}
    unproved: set[str] = set()
    for number, trial in enumerate(TRIALS):
        folder = tmp_path / str(number)
        folder.mkdir()
        policy = operator_policy(trial.ground(), trial.commands)
        every = lived(folder, trial)
        asked = [one for one in every if allowed([policy], one)]
        # A bucket whose tags one may not read is not one's own: here the state's.
        denied = {(one.action, one.resource) for one in every if one not in asked}
        assert denied <= {("s3:GetBucketTagging", f"arn:aws:s3:::{STATES}")}, trial.name
        unproved |= {grant.sid for grant in grants(trial.ground()) if grant.unproved}
        for statement in policy["Statement"]:
            sid = statement["Sid"]
            rest = {**policy, "Statement": [each for each in policy["Statement"] if each is not statement]}
            needed.setdefault(sid, set()).update(one.action for one in asked if not allowed([rest], one))
            given.setdefault(sid, set()).update(statement["Action"])
    print("\n".join(f"| `{sid}` | {_row(actions, sid in unproved)} |" for sid, actions in needed.items()))  # noqa: T201 - the table
    assert {sid for sid, actions in needed.items() if not actions} == unproved
    spare = {sid: left for sid in given if sid not in unproved and (left := given[sid] - needed[sid])}
    assert spare == {}


def lived(folder: Path, trial: Trial) -> list[Asked]:
    """What was asked for in a life under the policies of its commands."""
    with life(folder, trial.spec(), before=trial.before) as made:
        guard = made.cloud.account.guard
        guard.put_in_force([])

        @contextmanager
        def rights(command: str) -> Iterator[None]:
            policy = operator_policy(trial.ground(), (command,)) if command else None
            with _in_force(guard, (policy,) if policy is not None else None):
                yield

        trial.lived(made, rights)
        return list(guard.asked.values())


@contextmanager
def _in_force(guard: Guard, policies: tuple[dict[str, object], ...] | None) -> Iterator[None]:
    kept, guard.policies = guard.policies, policies
    try:
        yield
    finally:
        guard.policies = kept


def _row(actions: set[str], unproved: bool) -> str:  # noqa: FBT001 - a cell
    if unproved:
        return "not tried: what AWS's and the provider's documents name"
    return ", ".join(f"`{action}`" for action in sorted(actions))
