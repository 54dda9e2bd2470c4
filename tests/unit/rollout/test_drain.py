"""Work goes off a host before it is disturbed and comes back after the proof: with Slurm, and with own commands."""

import threading
from pathlib import Path
from typing import Any

import pytest
from rollout_site import WANTED, FakeHost, FakeNode, Site, roll, told

from gpuprov.model.run import HostState
from gpuprov.rollout.slurm import REASON
from gpuprov.spec.rollout import DrainSpec, RolloutSpec

SLURM = RolloutSpec(drain=DrainSpec(by="slurm"))


def cluster(names: str = "abcd", *, jobs: int = 2, **host: Any) -> Site:
    site = Site({name: FakeHost(**host) for name in names})
    site.slurm.nodes = {name: FakeNode(jobs=jobs) for name in names}
    return site


def commands(folder: Path, *, drain: str = "true", wait: str = "1h") -> RolloutSpec:
    log = folder / "log"
    return RolloutSpec(
        drain=DrainSpec(
            command=f"echo drain $GPUPROV_HOST >> {log}; {drain}", back=f"echo back $GPUPROV_HOST >> {log}", wait=wait
        )
    )


def test_one_node_at_a_time_goes_out_of_service_and_no_job_is_killed() -> None:
    site = cluster()
    assert told(roll(site, steps=SLURM)) == {name: (HostState.CHANGED, []) for name in "abcd"}
    assert [host.loaded for host in site.hosts.values()] == [WANTED] * 4
    assert (site.slurm.most, site.slurm.most_jobs) == (1, 0)
    assert site.slurm.diary == [f"{what} {name}" for name in "abcd" for what in ("drain", "resume")]
    assert [host.drained for host in site.hosts.values()] == [""] * 4
    assert [host.proven for host in site.hosts.values()] == ["sha256:host"] * 4


def test_a_change_that_disturbs_nobody_drains_nobody() -> None:
    site = cluster("a", loaded=WANTED)
    assert told(roll(site, steps=SLURM)) == {"a": (HostState.CHANGED, [])}
    assert site.slurm.diary == []


def test_a_host_that_stays_busy_is_given_back_as_it_was() -> None:
    site = cluster("ab")
    site.slurm.endless = True
    results = roll(site, steps=RolloutSpec(drain=DrainSpec(by="slurm", wait="0s")))
    assert told(results) == {"a": (HostState.FAILED, ["GP-ROLL-005"]), "b": (HostState.NOT_STARTED, [])}
    assert "job 17 of ana" in results["a"].diagnostics[0].detail
    assert site.diary == []
    assert site.slurm.diary == ["drain a", "resume a"]
    assert site.hosts["a"].drained == ""


def test_an_interruption_while_jobs_run_gives_the_host_back() -> None:
    site = cluster("ab")
    site.slurm.endless = True
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    results = told(roll(site, steps=SLURM, cancel=cancel))
    assert results == {"a": (HostState.NOT_STARTED, ["GP-RUN-003"]), "b": (HostState.NOT_STARTED, [])}
    assert site.diary == []
    assert site.slurm.diary == ["drain a", "resume a"]


def test_a_host_that_fails_stays_drained_until_a_run_proves_it() -> None:
    site = cluster("a", breaks=True)
    failed = roll(site, steps=SLURM)["a"]
    assert (failed.state, [d.code for d in failed.diagnostics]) == (HostState.FAILED, ["GP-CONV-002"])
    assert any("stays drained" in note for note in failed.notes)
    assert (site.slurm.nodes["a"].reason, site.hosts["a"].drained) == (REASON, "slurm")
    site.hosts["a"].breaks = False
    assert told(roll(site, steps=SLURM)) == {"a": (HostState.CHANGED, [])}
    assert site.slurm.diary == ["drain a", "resume a"]


def test_what_a_killed_run_left_drained_comes_back_with_the_next() -> None:
    """It was killed after the reboot: the host is as wanted, and nothing is planned for it."""
    site = cluster("a", version=WANTED, loaded=WANTED, drained="slurm")
    site.slurm.nodes["a"] = FakeNode(drain=True, reason=REASON)
    assert told(roll(site, steps=SLURM, proven=False)) == {"a": (HostState.SATISFIED, [])}
    assert (site.slurm.diary, site.hosts["a"].drained, site.hosts["a"].proven) == (["resume a"], "", "sha256:host")


def test_a_proven_host_that_does_not_get_its_work_back_is_no_success() -> None:
    site = cluster("ab")
    site.slurm.nodes["a"].deaf = True
    results = told(roll(site, steps=SLURM))
    assert results == {"a": (HostState.FAILED, ["GP-ROLL-007"]), "b": (HostState.NOT_STARTED, [])}
    assert (site.hosts["a"].proven, site.hosts["a"].drained) == ("", "slurm"), "the next run tries again"


def test_a_node_that_somebody_else_drained_is_changed_and_stays_out() -> None:
    site = cluster("a", jobs=0)
    site.slurm.nodes["a"] = FakeNode(drain=True, reason="bad DIMM", who="ana")
    result = roll(site, steps=SLURM)["a"]
    assert result.state is HostState.CHANGED
    assert any("ana (bad DIMM)" in note for note in result.notes)
    assert (site.slurm.nodes["a"].drain, site.slurm.diary) == (True, [])


def test_a_host_that_moves_while_its_jobs_end_is_not_touched() -> None:
    site = cluster("a", jobs=3)
    site.slurm.endless = False
    original = site.observe
    looks = []

    def somebody_upgrades(hosts: Any) -> Any:
        looks.append(1)
        if len(looks) == 2:
            site.hosts["a"].version = "1.5"
        return original(hosts)

    site.observe = somebody_upgrades  # type: ignore[method-assign]
    assert told(roll(site, steps=SLURM)) == {"a": (HostState.FAILED, ["GP-PLAN-001"])}
    assert (site.diary, site.slurm.diary) == ([], ["drain a", "resume a"])


def test_own_commands_know_the_host_and_run_in_order(tmp_path: Path) -> None:
    site = Site({"a": FakeHost(), "b": FakeHost()})
    assert told(roll(site, steps=commands(tmp_path))) == {name: (HostState.CHANGED, []) for name in "ab"}
    assert (tmp_path / "log").read_text().splitlines() == ["drain a", "back a", "drain b", "back b"]


@pytest.mark.parametrize(
    ("drain", "wait", "code"),
    [("echo no such host >&2; exit 3", "1h", "GP-ROLL-007"), ("sleep 60", "1s", "GP-ROLL-005")],
)
def test_own_commands_that_fail_leave_the_host_alone(tmp_path: Path, drain: str, wait: str, code: str) -> None:
    site = Site({"a": FakeHost(), "b": FakeHost()})
    results = roll(site, steps=commands(tmp_path, drain=drain, wait=wait))
    assert told(results) == {"a": (HostState.FAILED, [code]), "b": (HostState.NOT_STARTED, [])}
    assert (tmp_path / "log").read_text().splitlines() == ["drain a", "back a"]
    assert (site.diary, site.hosts["a"].drained) == ([], "")
    if code == "GP-ROLL-007":
        assert "no such host" in results["a"].diagnostics[0].detail


def test_a_mark_of_commands_that_the_spec_no_longer_has_is_told() -> None:
    site = Site({"a": FakeHost(version=WANTED, loaded=WANTED, drained="command")})
    result = roll(site, steps=SLURM, proven=False)["a"]
    assert [d.code for d in result.diagnostics] == ["GP-ROLL-007"]
    assert "by hand" in result.diagnostics[0].hint


def test_what_the_drain_does_not_take_off_is_not_ended_either() -> None:
    """A program beside Slurm: the host goes back as it was."""
    site = cluster("a", busy=True)
    assert told(roll(site, steps=SLURM)) == {"a": (HostState.FAILED, ["GP-PRE-007"])}
    assert site.slurm.diary == ["drain a", "resume a"]
    assert site.diary == []
