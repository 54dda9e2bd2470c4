"""Where a rollout stops and waits: canaries, the limit of failures, windows, pauses; and what the proof asks for."""

import time
from datetime import UTC, datetime

from rollout_site import WANTED, FakeHost, Site, roll, told

from gpuprov.model.run import HostState
from gpuprov.spec.rollout import DrainSpec, RolloutSpec


def fleet(names: str, *, broken: str = "") -> Site:
    return Site({name: FakeHost(loaded=WANTED, breaks=name in broken) for name in names})


def states(site: Site, steps: RolloutSpec) -> str:
    """One letter for each host: c(hanged), f(ailed), n(ot started)."""
    return "".join(str(result.state)[0] for result in roll(site, steps=steps).values())


def test_a_canary_that_fails_ends_the_rollout_whatever_may_fail() -> None:
    assert states(fleet("abcd", broken="a"), RolloutSpec(batch="3", canary=1, max_failures=3)) == "fnnn"
    assert states(fleet("abcd", broken="b"), RolloutSpec(batch="3", canary=1, max_failures=3)) == "cfcc"


def test_as_many_hosts_may_fail_as_the_pool_allows() -> None:
    assert states(fleet("abcd", broken="a"), RolloutSpec(max_failures=1)) == "fccc"
    assert states(fleet("abcd", broken="ac"), RolloutSpec(max_failures=1)) == "fcfn"
    assert states(fleet("abcd", broken="b"), RolloutSpec()) == "cfnn"


def test_no_batch_begins_outside_the_window() -> None:
    site = fleet("ab")
    results = told(roll(site, steps=RolloutSpec(window="22:00-06:00")))
    assert results == {name: (HostState.NOT_STARTED, ["GP-ROLL-006"]) for name in "ab"}
    site.times = [datetime(2026, 11, 30, 23, 0, tzinfo=UTC)]
    assert states(site, RolloutSpec(window="22:00-06:00")) == "cc"


def test_a_window_that_closes_while_work_ends_leaves_the_host_as_it_was() -> None:
    site = Site({"a": FakeHost()})
    site.times = [datetime(2026, 11, 30, 5, 59, tzinfo=UTC), datetime(2026, 11, 30, 6, 1, tzinfo=UTC)]
    steps = RolloutSpec(window="22:00-06:00", drain=DrainSpec(command="true", back="true"))
    assert told(roll(site, steps=steps)) == {"a": (HostState.NOT_STARTED, ["GP-ROLL-006"])}
    assert (site.diary, site.hosts["a"].drained) == ([], "")


def test_there_is_a_pause_between_batches_and_none_before_the_first() -> None:
    started = time.monotonic()
    assert states(fleet("a"), RolloutSpec(pause="1d")) == "c"
    assert states(fleet("ab", broken="a"), RolloutSpec(pause="1d")) == "fn", (
        "nobody waits for a batch that never begins"
    )
    assert states(fleet("ab"), RolloutSpec(pause="1s")) == "cc"
    assert 1 < time.monotonic() - started < 20


def test_a_host_that_comes_back_with_a_gpu_missing_is_not_proven() -> None:
    """Also where one was missing before: the finding was known, and the next loss would hide behind it."""
    site = Site({"a": FakeHost(gpus=7, gpus_after=6)})
    result = roll(site)["a"]
    assert (result.state, [d.code for d in result.diagnostics]) == (HostState.FAILED, ["GP-ROLL-002"])
    assert "gpu.count: 7 before the change, 6 after it" in result.diagnostics[0].detail
    assert told(roll(Site({"a": FakeHost(gpus=7, gpus_after=8)}))) == {"a": (HostState.CHANGED, [])}


def test_a_container_must_see_every_gpu() -> None:
    """A21: a run in which nothing saw the GPUs is not a pass."""
    site = Site({"a": FakeHost(gpus=8, container=0)})
    result = roll(site, containers=True, verify=("true",))["a"]
    assert (result.state, [d.code for d in result.diagnostics]) == (HostState.FAILED, ["GP-ROLL-008"])
    assert "sees 0 of 8" in result.diagnostics[0].summary
    assert (site.diary, site.hosts["a"].proven) == (["converge a", "reboot a", "container a"], "")
    site.hosts["a"].container = 8
    assert told(roll(site, containers=True, proven=False)) == {"a": (HostState.SATISFIED, [])}, "it is tried again"
    assert (site.diary[3:], site.hosts["a"].proven) == (["container a"], "sha256:host")


def test_a_change_that_disturbs_nothing_starts_no_container_on_a_proven_host() -> None:
    site = Site({"a": FakeHost(loaded=WANTED, gpus=8, proven="sha256:older")})
    assert told(roll(site, containers=True)) == {"a": (HostState.CHANGED, [])}
    assert site.diary == ["converge a"]
