"""The steps of a run: what of the spec and the inventory does not go together is said before anything is touched."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rollout_site import change, host_named, pool_want

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet
from gpuprov.app.site import Site, open_site
from gpuprov.app.steps import Steps, in_order, shows_gpus, steps_of
from gpuprov.model.change import Action, HostPlan, Plan
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Absent, Fact, Known
from gpuprov.model.planned import Planned
from gpuprov.model.snapshot import Snapshot
from gpuprov.model.waiver import Waiver
from gpuprov.spec.rollout import DrainSpec, RolloutSpec
from gpuprov.want.files import runtime_file
from gpuprov.want.types import DriverWant, GpuWant, HostWant

SPEC = """\
apiVersion: gpuprov/v1
name: site
os: debian-12
pools: {{train: {{gpu: none, onprem: {{group: train}}, rollout: {rollout}}}}}
targets: {{onprem: {{inventory: hosts.yml}}}}
"""
INVENTORY = "all: {children: {train: {hosts: {a: {rack: r1}, b: {}}}, admin: {hosts: {ctl: {ansible_user: ops}}}}}\n"


def site(folder: Path, rollout: str) -> Site:
    (folder / "gpuprov.yaml").write_text(SPEC.format(rollout=rollout))
    (folder / "hosts.yml").write_text(INVENTORY)
    return open_site(folder / "gpuprov.yaml")


def fleet() -> Fleet:
    hosts = (replace(host_named("a"), variables={"rack": "r1"}), host_named("b"))
    wants = {host.name: HostWant(host=host.name, pool=pool_want("train", ()), digest="sha256:1") for host in hosts}
    return Fleet(hosts=hosts, wants=wants, warnings=())


def planned(cost: Cost = Cost.REBOOT) -> Planned:
    plans = tuple(
        HostPlan(host=name, pool="train", changes=(change(Action.UPGRADE, "driver", "1.0", cost),)) for name in "ab"
    )
    snapshots = {name: Snapshot(host=name, taken="2026-11-30T00:00:00Z", facts={}) for name in "ab"}
    return Planned(plan=Plan(lock="", wants={}, hosts=plans), snapshots=snapshots, not_observed={})


def refusal(site: Site) -> list[tuple[str, str]]:
    with pytest.raises(GpuprovError) as caught:
        steps_of(site, fleet(), planned(), Access())
    return [(d.code, d.address) for d in caught.value.diagnostics]


def test_a_host_without_its_failure_domain_is_told(tmp_path: Path) -> None:
    assert refusal(site(tmp_path, "{spread: rack}")) == [("GP-INV-007", "b")]


def test_a_scheduler_that_the_inventory_lacks_is_told(tmp_path: Path) -> None:
    assert refusal(site(tmp_path, "{drain: {by: slurm, on: ctl-2}}")) == [("GP-INV-004", "ctl-2")]


def test_a_scheduler_may_stand_outside_the_pools_and_the_limit(tmp_path: Path) -> None:
    steps = steps_of(
        site(tmp_path, "{drain: {by: slurm, on: ctl}}"), fleet(), planned(), Access(limit="a", become_password="pw")
    )
    found = steps.scheduler(fleet().hosts[0])
    assert found is not None
    assert (found.name, found.connection.user, found.connection.become.password) == ("ctl", "ops", "pw")


def test_the_plan_says_the_order_and_what_takes_work_off() -> None:
    steps = Steps(rollouts={"train": RolloutSpec(canary=1, drain=DrainSpec(by="slurm", wait="2h"))})
    plan = in_order(planned(), fleet(), steps).plan
    assert plan.order == (("a",), ("b",))
    assert plan.drains == {"a": "slurm, up to 2h", "b": "slurm, up to 2h"}
    assert in_order(planned(Cost.NOTHING), fleet(), steps).plan.drains == {}


def test_a_run_that_could_change_nothing_now_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Steps(rollouts={"train": RolloutSpec(window="08:00-18:00")})
    monkeypatch.setattr("gpuprov.app.steps.now", lambda: datetime(2026, 11, 30, 12, 0, tzinfo=UTC))
    steps.refuse_closed(planned())
    monkeypatch.setattr("gpuprov.app.steps.now", lambda: datetime(2026, 11, 30, 20, 0, tzinfo=UTC))
    with pytest.raises(GpuprovError) as caught:
        steps.refuse_closed(planned())
    assert [d.code for d in caught.value.diagnostics] == ["GP-ROLL-006"]


def test_a_container_is_not_asked_of_a_host_on_which_what_it_needs_is_left_as_it_is() -> None:
    pool = replace(
        pool_want("train", ()), driver=DriverWant(version="580.1", modules="open"),
        gpu=GpuWant(count=8, nvml_names=("NVIDIA H100",)), files=(runtime_file("docker"),),
    )  # fmt: skip
    want = HostWant(host="a", pool=pool, digest="")
    seen = {"stack.container.runtimes": Absent(), "gpu.count": Known(8)}
    snapshot = Snapshot(
        host="a", taken="", facts={key: Fact(address=key, observation=value) for key, value in seen.items()}
    )
    plan = HostPlan(host="a", pool="train", changes=())
    waiver = Waiver(facet="stack.container.runtimes", reason="another engine", until="2999-01-01")
    assert shows_gpus(want, plan, snapshot, ())
    assert not shows_gpus(want, plan, snapshot, (waiver,))
    assert not shows_gpus(HostWant(host="a", pool=pool_want("train", ()), digest=""), plan, snapshot, ())
