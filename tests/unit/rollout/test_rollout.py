"""The rollout, with hosts made of data: who is touched, in what order, and where it stops."""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rollout_site import WANTED, FakeHost, Site, change, roll, told

import gpuprov.rollout
from gpuprov.converge.types import HostOutcome
from gpuprov.model.change import Action, HostPlan
from gpuprov.model.facet import Cost
from gpuprov.model.host import Host
from gpuprov.model.run import HostState
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.rollout.types import Target
from gpuprov.spec.rollout import RolloutSpec


def run(
    site: Site,
    *,
    batch: str = "1",
    verify: tuple[str, ...] = (),
    proven: bool = True,
    cancel: threading.Event | None = None,
) -> dict[str, tuple[HostState, list[str]]]:
    return told(roll(site, steps=RolloutSpec(batch=batch), verify=verify, proven=proven, cancel=cancel))


def test_a_host_as_wanted_is_not_touched() -> None:
    site = Site({"a": FakeHost(version=WANTED, loaded=WANTED), "b": FakeHost(loaded=WANTED)})
    assert run(site) == {"a": (HostState.SATISFIED, []), "b": (HostState.CHANGED, [])}
    assert site.diary == ["converge b"]


def test_a_host_as_wanted_that_was_never_proven_runs_its_verify_commands() -> None:
    """As after a verify command that failed: the next `up` does not say that all is well without having looked."""
    site = Site({"a": FakeHost(version=WANTED, loaded=WANTED, verify_status=1)})
    assert run(site, verify=("nvidia-smi -L",), proven=False) == {"a": (HostState.FAILED, ["GP-ROLL-003"])}
    assert (site.diary, site.hosts["a"].proven) == (["verify a"], "")
    site.hosts["a"].verify_status = 0
    assert run(site, verify=("nvidia-smi -L",), proven=False) == {"a": (HostState.SATISFIED, [])}
    assert site.hosts["a"].proven == "sha256:host"
    assert run(site, verify=("nvidia-smi -L",)) == {"a": (HostState.SATISFIED, [])}
    assert site.diary == ["verify a", "verify a"]


def test_a_change_that_nobody_was_shown_is_not_made() -> None:
    """The plan read only what it changes; a drift beside it needs a new plan."""
    site = Site({"a": FakeHost(loaded=WANTED)})
    original = site.plan

    def one_more(target: Target, snapshot: Snapshot) -> HostPlan:
        plan = original(target, snapshot)
        return replace(plan, changes=(*plan.changes, change(Action.START, "docker", "inactive", Cost.NOTHING)))

    shown = []

    def first_without(target: Target, snapshot: Snapshot) -> HostPlan:
        shown.append(1)
        return original(target, snapshot) if len(shown) == 1 else one_more(target, snapshot)

    site.plan = first_without  # type: ignore[method-assign]
    assert run(site) == {"a": (HostState.FAILED, ["GP-PLAN-001"])}
    assert site.diary == []


def test_a_reboot_follows_the_change_and_is_proven_by_the_boot_id() -> None:
    site = Site({"a": FakeHost()})
    assert run(site, verify=("nvidia-smi -L",)) == {"a": (HostState.CHANGED, [])}
    assert site.diary == ["converge a", "reboot a", "verify a"]
    assert site.hosts["a"].boot == 2


def test_a_failure_stops_the_batches_that_follow() -> None:
    site = Site({name: FakeHost(loaded=WANTED) for name in "abcd"})
    site.hosts["b"].breaks = True
    assert run(site, batch="2") == {
        "a": (HostState.CHANGED, []),
        "b": (HostState.FAILED, ["GP-CONV-002"]),
        "c": (HostState.NOT_STARTED, []),
        "d": (HostState.NOT_STARTED, []),
    }
    assert site.diary == ["converge a", "converge b"]


@pytest.mark.parametrize(
    ("trouble", "codes", "verify"),
    [
        ({"stuck": True, "loaded": WANTED}, ["GP-ROLL-002"], ()),
        ({"comes_back": False}, ["GP-ROLL-001"], ()),
        ({"loaded": WANTED, "verify_status": 9}, ["GP-ROLL-003"], ("nvidia-smi -L",)),
        ({"dead": True}, ["GP-SSH-001"], ()),
    ],
)
def test_done_is_said_only_when_it_is_proven(
    trouble: dict[str, object], codes: list[str], verify: tuple[str, ...]
) -> None:
    site = Site({"a": FakeHost(**trouble)})  # type: ignore[arg-type]
    assert run(site, verify=verify) == {"a": (HostState.FAILED, codes)}


def test_a_host_that_moved_after_the_plan_is_not_touched() -> None:
    site = Site({"a": FakeHost(loaded=WANTED)})
    original = site.observe

    def somebody_upgrades(hosts: Sequence[Host]) -> Mapping[str, Snapshot | NotObserved]:
        site.hosts["a"].version = "1.5"
        return original(hosts)

    site.observe = somebody_upgrades  # type: ignore[method-assign]
    assert run(site) == {"a": (HostState.FAILED, ["GP-PLAN-001"])}
    assert site.diary == []


@pytest.mark.parametrize(("loaded", "looks"), [(WANTED, 2), ("1.0", 3)], ids=["no reboot", "a reboot"])
def test_a_host_is_looked_at_before_its_change_after_it_and_after_a_boot(loaded: str, looks: int) -> None:
    """The look that says whether a reboot is needed is the proof's first one where none is: each costs a second."""
    site = Site({"a": FakeHost(loaded=loaded)})
    observe, converge, seen, given = site.observe, site.converge, [], []

    def counted(hosts: Sequence[Host]) -> Mapping[str, Snapshot | NotObserved]:
        seen.append(observe(hosts))
        return seen[-1]

    def told(targets: Sequence[Target]) -> Mapping[str, HostOutcome]:
        given.extend(target.seen for target in targets)
        return converge(targets)

    site.observe, site.converge = counted, told  # type: ignore[method-assign]
    assert run(site) == {"a": (HostState.CHANGED, [])}
    assert len(seen) == looks
    assert given == [seen[0]["a"]], "the play works from the look right before it"


def test_a_host_that_another_run_changes_is_left_alone() -> None:
    site = Site({"a": FakeHost(loaded=WANTED), "b": FakeHost(loaded=WANTED)})
    owner = {"pid": 77, "user": "ana", "host": "desk", "command": "gpuprov up", "since": 0.0}
    site.hosts["a"].lock = f"busy {json.dumps(owner)}"
    assert run(site, batch="2") == {"a": (HostState.FAILED, ["GP-RUN-011"]), "b": (HostState.CHANGED, [])}
    assert site.diary == ["converge b"]
    assert [host.locks for host in site.hosts.values()] == [0, 0], "locks are given back"


def test_a_lock_that_a_boot_ended_is_taken_again_before_the_proof() -> None:
    site = Site({"a": FakeHost()})
    original = site.converge

    def somebody_comes(targets: Sequence[Target]) -> Mapping[str, HostOutcome]:
        site.hosts["a"].lock = "busy "  # whoever waited for it has it after the boot
        return original(targets)

    site.converge = somebody_comes  # type: ignore[method-assign]
    assert run(site, verify=("nvidia-smi -L",)) == {"a": (HostState.FAILED, ["GP-RUN-011"])}
    assert site.diary == ["converge a", "reboot a"]


def test_after_an_interruption_no_batch_begins() -> None:
    site = Site({"a": FakeHost(loaded=WANTED)})
    cancel = threading.Event()
    cancel.set()
    assert run(site, cancel=cancel) == {"a": (HostState.NOT_STARTED, [])}
    assert site.diary == []


def test_a_reboot_that_the_plan_did_not_announce_does_not_happen() -> None:
    site = Site({"a": FakeHost(loaded=WANTED)})
    original = site.converge

    def changes_the_module(targets: Sequence[Target]) -> Mapping[str, HostOutcome]:
        site.hosts["a"].loaded = "1.0"
        return original(targets)

    site.converge = changes_the_module  # type: ignore[method-assign]
    assert run(site) == {"a": (HostState.FAILED, ["GP-PLAN-001"])}
    assert site.diary == ["converge a"]


def test_gpus_that_came_into_use_since_the_plan_leave_the_host_alone() -> None:
    site = Site({"a": FakeHost(busy=True)})
    assert run(site) == {"a": (HostState.FAILED, ["GP-PRE-007"])}
    assert site.diary == []


def test_a_host_is_not_rebooted_into_a_kernel_without_a_driver() -> None:
    site = Site({"a": FakeHost(stranded=True)})
    assert run(site) == {"a": (HostState.FAILED, ["GP-PRE-006"])}
    assert (site.diary, site.hosts["a"].boot) == (["converge a"], 1)


def test_no_hint_tells_somebody_who_goes_back_or_hands_back_to_run_up() -> None:
    files = list(Path(gpuprov.rollout.__file__).parent.glob("*.py"))
    assert len(files) > 1
    assert [file.name for file in files if "gpuprov up" in file.read_text(encoding="utf-8")] == []
