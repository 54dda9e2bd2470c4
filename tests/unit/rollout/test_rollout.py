"""The rollout, with hosts made of data: who is touched, in what order, and where it stops."""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from gpuprov.converge.types import HostOutcome, HostStatus
from gpuprov.model.change import Action, Change, HostPlan
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Fact, Known
from gpuprov.model.host import Connection, Host
from gpuprov.model.progress import ignore_progress
from gpuprov.model.run import HostState
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.plan.guard import boot_id, guard_digest, read_observations
from gpuprov.rollout.marks import PROVEN
from gpuprov.rollout.rollout import roll_out
from gpuprov.rollout.types import Patience, Target, Tools
from gpuprov.spec.rollout import RolloutSpec
from gpuprov.transport.protocol import Outcome
from gpuprov.want.types import HostWant, PoolWant

PATIENCE = Patience(reboot=0.2, settle=0.05, verify=5.0)
WANTED = "2.0"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poll fast: the hosts are made of data."""
    monkeypatch.setattr("gpuprov.rollout.reboot._POLL_SECONDS", 0.01)
    monkeypatch.setattr("gpuprov.rollout.proof._POLL_SECONDS", 0.01)
    monkeypatch.setattr("gpuprov.rollout.host_lock._PAUSE", 0.01)


def pool_want(name: str, verify: tuple[str, ...]) -> PoolWant:
    return PoolWant(
        pool=name, target="onprem", os="debian-12", arch="amd64", packages=(), sources=(), files=(), services=(),
        exporters=(), driver=None, on_disk="", gpu=None, verify=verify, digest="sha256:pool",
    )  # fmt: skip


@dataclass
class FakeHost:
    """A host that has one package version and one loaded version."""

    version: str = "1.0"
    loaded: str = "1.0"
    boot: int = 1
    breaks: bool = False
    """Converge fails."""
    stuck: bool = False
    """Converge succeeds and changes nothing."""
    dead: bool = False
    comes_back: bool = True
    verify_status: int = 0
    proven: str = ""
    lock: str = "held"
    """What its lock answers a run that asks for it."""
    locks: int = 0
    """How often the lock was taken."""


@dataclass
class FakeLock:
    """A lock of a host; a boot ends it."""

    fake: FakeHost
    first: str
    boot: int

    @property
    def alive(self) -> bool:
        return self.fake.boot == self.boot

    def beat(self) -> None:
        """It hears nothing."""

    def close(self) -> None:
        self.fake.locks -= 1


@dataclass
class Site:
    """Fake hosts, and a diary of what was done to them."""

    hosts: dict[str, FakeHost]
    diary: list[str] = field(default_factory=list)

    def snapshot(self, name: str) -> Snapshot | NotObserved:
        if self.hosts[name].dead:
            return NotObserved(host=name, code="GP-SSH-001", reason="connection refused")
        fake = self.hosts[name]
        seen = {"x.driver": fake.version, "x.host": fake.loaded, "host.boot_id": f"boot-{fake.boot}"}
        facts = {address: Fact(address=address, observation=Known(value)) for address, value in seen.items()}
        return Snapshot(host=name, taken="2026-11-30T00:00:00Z", facts=facts)

    def observe(self, hosts: Sequence[Host]) -> Mapping[str, Snapshot | NotObserved]:
        return {host.name: self.snapshot(host.name) for host in hosts}

    def plan(self, target: Target, snapshot: Snapshot) -> HostPlan:
        host = self.hosts[target.host.name]
        changes = []
        if host.version != WANTED:
            changes.append(change(Action.UPGRADE, "driver", host.version, Cost.NOTHING))
        if host.loaded != WANTED:
            changes.append(change(Action.REBOOT, "host", host.loaded, Cost.REBOOT))
        reads = read_observations(["x.driver", "x.host"], snapshot)
        boot = boot_id(snapshot)
        return HostPlan(
            host=target.host.name, pool=target.host.pool, changes=tuple(changes), guard=guard_digest(reads, boot),
            boot_id=boot, reads=reads,
        )  # fmt: skip

    def converge(self, targets: Sequence[Target]) -> Mapping[str, HostOutcome]:
        outcomes = {}
        for target in targets:
            host = self.hosts[target.host.name]
            self.diary.append(f"converge {target.host.name}")
            failed = (
                (Diagnostic(code="GP-CONV-002", address=target.host.name, summary="broken"),) if host.breaks else ()
            )
            if not host.breaks and not host.stuck:
                host.version = WANTED
            outcomes[target.host.name] = outcome(failed)
        return outcomes

    def connect(self, host: Host) -> "FakeTransport":
        return FakeTransport(self, host.name)


class FakeTransport:
    """Answers the three commands that a rollout sends."""

    def __init__(self, site: Site, name: str) -> None:
        self.site, self.name = site, name

    @property
    def host(self) -> str:
        return self.name

    def run(self, command: str, *, stdin: bytes = b"", timeout: float, root: bool = False) -> Outcome:
        fake = self.site.hosts[self.name]
        if command.startswith("cat /proc/sys/kernel/random/boot_id"):
            return Outcome(status=0, stdout=f"boot-{fake.boot}\n".encode(), stderr=b"", seconds=0.0)
        if command == "systemctl reboot":
            assert root
            self.site.diary.append(f"reboot {self.name}")
            if fake.comes_back:
                fake.boot += 1
                fake.loaded = fake.version
            return Outcome(status=0, stdout=b"", stderr=b"", seconds=0.0)
        if command.startswith(("mkdir ", "rm -f ", "if [ -e ")):
            return Outcome(status=0, stdout=b"", stderr=b"", seconds=0.0)
        self.site.diary.append(f"verify {self.name}")
        return Outcome(status=fake.verify_status, stdout=b"", stderr=b"no devices\n", seconds=0.0)

    def hold(self, command: str, *, timeout: float, root: bool = False) -> FakeLock:
        fake = self.site.hosts[self.name]
        assert root
        assert "flock" in command
        fake.locks += 1
        return FakeLock(fake, fake.lock, fake.boot)

    def put(self, content: bytes, path: str, *, mode: int, root: bool = False) -> None:
        assert (path, root) == (PROVEN, True)
        self.site.hosts[self.name].proven = content.decode().strip()

    def close(self) -> None:
        """Nothing to close."""


def change(action: Action, subject: str, before: str, cost: Cost) -> Change:
    return Change(
        address=f"x.{subject}", action=action, subject=subject, before=before, after=WANTED, reason="lock", cost=cost
    )


def outcome(failed: tuple[Diagnostic, ...]) -> HostOutcome:
    status = HostStatus.FAILED if failed else HostStatus.OK
    return HostOutcome(status=status, changed=2, tasks=9, diagnostics=failed, packages=("driver 1.0 -> 2.0",))


def run(
    site: Site,
    *,
    batch: str = "1",
    verify: tuple[str, ...] = (),
    proven: bool = True,
    cancel: threading.Event | None = None,
) -> dict[str, tuple[HostState, list[str]]]:
    plain = [
        Target(
            host=Host(name=name, pool="train", target="onprem", connection=Connection(host=name, address="192.0.2.1")),
            want=HostWant(host=name, pool=pool_want("train", verify), digest="sha256:host"),
            plan=HostPlan(host=name, pool="train", changes=()),
            steps=RolloutSpec(batch=batch),
            proven=proven,
        )
        for name in site.hosts
    ]
    targets = []
    for target in plain:
        dead, site.hosts[target.host.name].dead = site.hosts[target.host.name].dead, False
        seen = site.snapshot(target.host.name)
        assert isinstance(seen, Snapshot)
        targets.append(replace(target, plan=site.plan(target, seen)))
        site.hosts[target.host.name].dead = dead
    tools = Tools(
        connect=site.connect, observe=site.observe, converge=site.converge, plan=site.plan,
        record=lambda *_: None,
    )  # fmt: skip
    results = roll_out(
        targets, tools=tools, patience=PATIENCE, report=ignore_progress, cancel=cancel or threading.Event()
    )
    return {result.host: (result.state, [d.code for d in result.diagnostics]) for result in results}


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
