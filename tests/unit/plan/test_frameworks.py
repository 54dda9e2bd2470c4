"""Frameworks in a plan: one change for the whole environment; each case is what the host has and what is wanted."""

from typing import Any

import pytest
from framework_builders import TORCH, has_frameworks, with_frameworks
from host_builders import edit, make_want, observation, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.model.change import Change, HostPlan
from gpuprov.model.snapshot import Snapshot
from gpuprov.plan.plan import plan_host
from gpuprov.plan.removal import removals
from gpuprov.want.empty import empty_want
from gpuprov.want.expectations import expectations
from gpuprov.want.host import host_want
from gpuprov.want.owned import owned_of
from gpuprov.want.types import HostWant

WANT = with_frameworks(make_want())
NEWER = {"torch": "2.9.2+cu130", "numpy": "2.3.5", "sympy": "1.14.0"}
ENVIRONMENT = "stack.frameworks.environment"


def plan_of(want: HostWant, host: Snapshot) -> HostPlan:
    return plan_host(compare_want(expectations(want, owned_of(host)), host), want, host)


def host(versions: dict[str, str] | None = TORCH, **facts: Any) -> Snapshot:
    base = with_frameworks(make_want(), versions)
    seen = has_frameworks(satisfied(make_want()), base.pool.frameworks)
    return edit(seen, {address: observation(value) for address, value in facts.items()})


def line(change: Change) -> str:
    return f"{change.action} {change.before or '-'} -> {change.after or '-'} | {change.reason}"


@pytest.mark.parametrize(
    ("has", "wanted", "facts", "expected"),
    [
        (TORCH, TORCH, {}, []),
        (None, None, {}, []),
        (None, TORCH, {}, ["write - -> torch 2.9.1+cu130 | lock: frameworks"]),
        (TORCH, NEWER, {}, ["write torch 2.9.1+cu130 -> torch 2.9.2+cu130 | the spec or the lock changed"]),
        (
            TORCH,
            TORCH,
            {'framework["numpy"].version': "1.0"},
            ["write torch 2.9.1+cu130 -> torch 2.9.1+cu130 | changed by hand"],
        ),
        (TORCH, TORCH, {ENVIRONMENT: None}, ["write torch 2.9.1+cu130 -> torch 2.9.1+cu130 | deleted by hand"]),
        (TORCH, None, {}, ["delete the environments of gpuprov -> - | no longer in the spec"]),
        (TORCH, TORCH, {ENVIRONMENT: {"unknown": "timed out"}}, []),
    ],
)
def test_what_is_planned(
    has: dict[str, str] | None, wanted: dict[str, str] | None, facts: dict[str, Any], expected: list[str]
) -> None:
    plan = plan_of(with_frameworks(make_want(), wanted), host(has, **facts))
    assert [line(change) for change in plan.changes] == expected
    assert {change.subject for change in plan.changes} <= {"/opt/gpuprov/frameworks"}
    assert bool(plan.unknown) == any(isinstance(value, dict) for value in facts.values())
    assert plan.not_curable == ()


def test_what_moves_in_the_environment_is_shown_package_by_package() -> None:
    (change,) = plan_of(with_frameworks(make_want(), NEWER), host()).changes
    moved = [text for text in change.diff.splitlines()[2:] if text[0] in "+-"]
    assert sorted(moved) == ["+sympy 1.14.0", "+torch 2.9.2+cu130", "-torch 2.9.1+cu130"]


def test_a_hand_back_takes_the_environments_away_and_no_file_of_their_name() -> None:
    plan = plan_of(host_want(empty_want("train", "onprem", "debian-12", "amd64"), "node-1"), host())
    assert [c.reason for c in plan.changes if c.subject == "/opt/gpuprov/frameworks"] == ["the host is handed back"]
    gone = removals(plan)
    assert gone.frameworks is True
    assert "/opt/gpuprov/frameworks" not in gone.files


def test_the_environment_s_name_follows_from_python_and_packages() -> None:
    names = {with_frameworks(make_want(), versions).pool.frameworks.environment for versions in (TORCH, NEWER)}  # type: ignore[union-attr]
    assert len(names) == 2
    assert WANT.pool.frameworks is not None
    assert WANT.pool.frameworks.environment in names
    assert WANT.pool.frameworks.requested == ("torch",)
