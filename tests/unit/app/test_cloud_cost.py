"""What the hosts of a stack cost before and after a run, their ages, and what somebody changed past gpuprov."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from app_world import World
from host_builders import satisfied

from gpuprov.app import preview as preview_module
from gpuprov.app.access import Access
from gpuprov.app.cloud_cost import cloud_view
from gpuprov.app.ground import UpRequest
from gpuprov.app.preview import preview
from gpuprov.app.status import status
from gpuprov.cloud.types import InstanceHealth, InstanceState
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.progress import ignore_progress
from gpuprov.model.status import ExitStatus

HOUR = 55.04
"""Of a p5.48xlarge on demand in us-east-1, by the catalog."""


@pytest.fixture
def seen(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    def observe(hosts: Any, fleet: Any, *_: Any) -> dict[str, Any]:
        return {host.name: satisfied(fleet.wants[host.name]) for host in hosts}

    monkeypatch.setattr(preview_module, "observe", observe)
    monkeypatch.setattr(preview_module, "foresee", lambda planned, _fleet, **_: planned)
    return world


def look(world: World, **request: Any) -> Any:
    return preview(UpRequest(spec=world.site.path, access=Access(), **request), ignore_progress)


def rates(world: World) -> tuple[tuple[int, float], tuple[int, float]]:
    cost = look(world).planned.plan.resources.cost
    return (cost.before.hosts, cost.before.usd_hour), (cost.after.hosts, cost.after.usd_hour)


def test_cost_grows_with_hosts_and_not_with_stopped_ones(seen: World) -> None:
    assert rates(seen) == ((0, 0), (2, 2 * HOUR))
    seen.up()
    assert rates(seen) == ((2, 2 * HOUR), (2, 2 * HOUR))
    seen.rewrite("train-a", "train-b", "train-c")
    assert rates(seen) == ((2, 2 * HOUR), (3, 3 * HOUR))
    stopped = seen.stack.resources["instance.train-a"].id
    seen.account.states[stopped] = InstanceState.STOPPED
    assert rates(seen) == ((1, HOUR), (2, 2 * HOUR))


def test_cost_grows_with_what_stands_around_the_hosts(seen: World) -> None:
    def around() -> tuple[float, float]:
        cost = look(seen).planned.plan.resources.cost
        return round(cost.before.around_usd_hour, 4), round(cost.after.around_usd_hour, 4)

    address, gib = 0.005, 0.08 / 730
    # Two hosts in public: an address each, the root volume, and 100 GiB of scratch.
    cloud = seen.site.spec.pools["train"].cloud
    assert cloud is not None
    wanted = round(2 * address + 2 * (cloud.root + 100) * gib, 4)
    assert around() == (0, wanted)
    seen.up()
    # The state of this test's stack tells nothing of root volumes.
    held = 200 * gib
    assert around() == (round(2 * address + held, 4), wanted)
    for name in ("train-a", "train-b"):
        seen.account.states[seen.stack.resources[f"instance.{name}"].id] = InstanceState.STOPPED
    # Volumes of stopped hosts are paid for; the addresses are given back.
    assert around() == (round(held, 4), round(wanted - 2 * address, 4))


def test_ages_and_what_was_spent(seen: World) -> None:
    seen.up()
    state = seen.stack.state()
    first, second = (host.instance_id for host in state.made.hosts)
    began = (datetime.fromtimestamp(time.time(), UTC) - timedelta(hours=3)).isoformat()
    health = {
        first: InstanceHealth(id=first, state=InstanceState.RUNNING, checks="ok", launched=began),
        second: InstanceHealth(id=second, state=InstanceState.STOPPED, checks="ok", launched=began),
    }
    view = cloud_view(state, health, seen.site.spec, "us-east-1")
    rows = [(host.name, host.state, host.bought, round((host.seconds or 0) / 3600)) for host in view.hosts]
    assert rows == [("train-a", "running", "on-demand", 3), ("train-b", "stopped", "on-demand", 0)]
    assert view.spent.usd == pytest.approx(3 * HOUR, rel=0.01)
    gone = cloud_view(state, {}, seen.site.spec, "us-east-1")
    assert {(host.state, host.seconds) for host in gone.hosts} == {("unknown", None)}
    assert gone.spent.usd == 0
    assert [host.name for host in (status(seen.site.path, Access(), ignore_progress).view or view).hosts] == [
        "train-a",
        "train-b",
    ]


def by_hand(address: str) -> Diagnostic:
    return Diagnostic(code="GP-CLOUD-065", severity=Severity.WARNING, address=address, summary="changed")


def test_what_was_changed_by_hand_is_looked_for_when_asked_and_is_a_difference(seen: World) -> None:
    seen.up()
    seen.stack.changed_by_hand, seen.account.opened = (by_hand("vpc.main"),), (by_hand("security_group.main"),)
    quiet = look(seen)
    assert quiet.status(expect_no_changes=True) is ExitStatus.DONE
    assert "by_hand" not in seen.stack.calls
    found = look(seen, refresh=True)
    told = [d.address for d in found.diagnostics if d.code == "GP-CLOUD-065"]
    assert told == ["vpc.main", "security_group.main"]
    assert found.status(expect_no_changes=False) is ExitStatus.DONE
    assert found.status(expect_no_changes=True) is ExitStatus.DIFFERENT
