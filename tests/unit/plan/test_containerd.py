"""containerd in a plan: its runtime comes, goes, or cannot come."""

from dataclasses import replace
from typing import Any

import pytest
from host_builders import edit, make_want, observation, owned_value, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.model.change import HostPlan
from gpuprov.plan.plan import plan_host
from gpuprov.plan.removal import removals
from gpuprov.want.expectations import expectations
from gpuprov.want.owned import owned_of
from gpuprov.want.types import HostWant, PackageWant

PLAIN = make_want()
WANT = replace(PLAIN, pool=replace(PLAIN.pool, containerd=True))
RUNTIMES, CRI = "stack.containerd.runtimes", "stack.containerd.cri"
RUNC = {"runc": "io.containerd.runc.v2"}
NVIDIA = {**RUNC, "nvidia": "io.containerd.runc.v2"}
WHY = "pods reach GPUs through NVIDIA's runtime"
ACTIVE = 'service["containerd"].active'


def plan_of(want: HostWant, facts: dict[str, Any], *, ours: bool = False) -> HostPlan:
    owned = {**owned_value(PLAIN.pool), "containerd": ours}
    values = {CRI: True, RUNTIMES: NVIDIA, ACTIVE: "active", "gpuprov.owned": owned, **facts}
    host = edit(satisfied(PLAIN), {address: observation(value) for address, value in values.items()})
    return plan_host(compare_want(expectations(want, owned_of(host)), host), want, host)


@pytest.mark.parametrize(
    ("facts", "change", "left"),
    [
        ({}, None, []),
        (
            {RUNTIMES: RUNC},
            f"write runc (io.containerd.runc.v2) -> with the runtime nvidia | {WHY} | restart",
            [],
        ),
        (
            {RUNTIMES: {**RUNC, "nvidia": "none"}},
            f"write nvidia (none), runc (io.containerd.runc.v2) -> with the runtime nvidia | {WHY} | restart",
            [],
        ),
        (
            {RUNTIMES: None, CRI: None, ACTIVE: None},
            f"write  -> with the runtime nvidia | {WHY} | nothing",
            [CRI],
        ),
        ({CRI: False, RUNTIMES: None}, None, [CRI, RUNTIMES]),
        ({RUNTIMES: {"unknown": "timed out"}}, None, [RUNTIMES]),
    ],
)
def test_the_runtime_comes(facts: dict[str, Any], change: str | None, left: list[str]) -> None:
    plan = plan_of(WANT, facts)
    found = [f"{c.action} {c.before} -> {c.after} | {c.reason} | {c.cost}" for c in plan.changes]
    assert found == ([change] if change else [])
    assert [f.address for f in (*plan.not_curable, *plan.unknown)] == left


def test_what_serves_kubernetes_comes_with_a_containerd_that_comes() -> None:
    row = PackageWant(name="containerd", version="1.6.20~ds1-1+b1", arch="amd64", source="os", sha256="")
    want = replace(WANT, pool=replace(WANT.pool, packages=(*WANT.pool.packages, row)))
    plan = plan_of(want, {RUNTIMES: None, CRI: None, ACTIVE: None})
    assert [str(change.action) for change in plan.changes] == ["install", "write"]
    assert CRI not in {finding.address for finding in plan.not_curable}


def test_the_runtime_goes_where_gpuprov_brought_it_and_only_there() -> None:
    plan = plan_of(PLAIN, {}, ours=True)
    assert [(str(c.action), c.after) for c in plan.changes] == [("take back", "without the runtime nvidia")]
    gone = removals(plan)
    assert (gone.containerd, gone.take_back) == (True, ())
    assert plan_of(PLAIN, {}).changes == ()
    assert plan_of(PLAIN, {RUNTIMES: RUNC}, ours=True).changes == ()
