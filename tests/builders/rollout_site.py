"""A site of hosts made of data, with a Slurm of its own; a diary tells what was done to them."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from gpuprov.converge.types import HostOutcome, HostStatus
from gpuprov.model.change import Action, Change, HostPlan
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Fact, Known, Value
from gpuprov.model.host import Connection, Host
from gpuprov.model.progress import ignore_progress
from gpuprov.model.run import HostResult, HostState
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.plan.guard import boot_id, guard_digest, read_observations
from gpuprov.rollout.marks import DRAINED, PROVEN
from gpuprov.rollout.rollout import roll_out
from gpuprov.rollout.types import Patience, Target, Tools
from gpuprov.spec.rollout import RolloutSpec
from gpuprov.transport.protocol import Outcome
from gpuprov.want.types import HostWant, PoolWant

PATIENCE = Patience(reboot=0.2, settle=0.05, verify=5.0)
WANTED = "2.0"


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
    drained: str = ""
    """Its mark of being drained."""
    gpus: int | None = None
    """How many GPUs it has; None: it is not known."""
    gpus_after: int | None = None
    """How many come back from a boot."""
    container: int = 0
    """How many GPUs a container lists."""
    busy: bool = False
    """Somebody whom no drain takes off uses its GPUs."""
    stranded: bool = False
    """Its next kernel has no driver module."""
    lock: str = "held"
    """What its lock answers a run that asks for it."""
    locks: int = 0
    """How often the lock was taken."""


@dataclass
class FakeLock:
    """A lock of a host. A boot ends it, which the connection that it came by does not know at once."""

    fake: FakeHost
    first: str

    @property
    def alive(self) -> bool:
        return True

    def beat(self) -> None:
        """It hears nothing."""

    def close(self) -> None:
        self.fake.locks -= 1


@dataclass
class FakeNode:
    """A node as Slurm sees it."""

    jobs: int = 0
    """Running jobs; one ends each time that somebody asks for them."""
    drain: bool = False
    reason: str = ""
    who: str = "root"
    down: bool = False
    deaf: bool = False
    """It never takes the node back."""

    @property
    def text(self) -> str:
        base = "DOWN*" if self.down else "ALLOCATED" if self.jobs else "IDLE"
        state = base + ("+DRAIN" if self.drain else "")
        reason = f"   Reason={self.reason} [{self.who}@2026-11-30T12:00:00]\n" if self.reason else ""
        return f"NodeName=x CPUAlloc=0\n   State={state} ThreadsPerCore=1 Owner=N/A\n{reason}\n"


@dataclass
class FakeSlurm:
    """Answers scontrol and squeue as Slurm 22.05 does, and keeps how many nodes were drained at once."""

    nodes: dict[str, FakeNode] = field(default_factory=dict)
    diary: list[str] = field(default_factory=list)
    most: int = 0
    most_jobs: int = 0
    """Most jobs that were on a node when its host rebooted."""
    asked: list[str] = field(default_factory=list)
    """Hosts on which its commands ran."""
    endless: bool = False
    """Jobs do not end."""

    def answer(self, command: str, host: str) -> Outcome:
        self.asked.append(host)
        if "show nodes" in command:
            own = f"{host}\n{host}\n" if command.startswith("hostname") else ""
            return said(own + "".join(f"NodeName={n}\nNodeAddr={n}\nNodeHostName={n}\n" for n in self.nodes))
        name = command.partition("nodename=")[2] or command.partition("--nodelist=")[2] or command.rpartition(" ")[2]
        node = self.nodes[name.split()[0]]
        if command.startswith("squeue"):
            node.jobs = node.jobs if self.endless else max(0, node.jobs - 1)
            return said("".join(f"{17 + n} ana\n" for n in range(node.jobs)))
        if command.startswith("scontrol show node"):
            return said(node.text)
        return self._update(command, name.split()[0], node)

    def _update(self, command: str, name: str, node: FakeNode) -> Outcome:
        if "state=resume" in command:
            if not node.drain and not node.down:
                return Outcome(
                    status=1, stdout=b"", stderr=b"slurm_update error: Invalid node state specified", seconds=0
                )
            if not node.deaf:
                node.drain, node.down, node.reason = False, False, ""
            self.diary.append(f"resume {name}")
        else:
            node.drain, node.reason = True, command.partition("reason=")[2].strip("'")
            self.diary.append(f"drain {name}")
        self.most = max(self.most, sum(each.drain for each in self.nodes.values()))
        return said("")

    def rebooted(self, name: str) -> None:
        """What Slurm notices of a reboot."""
        if name in self.nodes:
            node = self.nodes[name]
            self.most_jobs = max(self.most_jobs, node.jobs)
            if node.drain:
                node.reason += " : Node unexpectedly rebooted"


def said(text: str) -> Outcome:
    """A command that succeeded."""
    return Outcome(status=0, stdout=text.encode(), stderr=b"", seconds=0.0)


@dataclass
class Site:
    """Fake hosts, and a diary of what was done to them."""

    hosts: dict[str, FakeHost]
    diary: list[str] = field(default_factory=list)
    slurm: "FakeSlurm" = field(default_factory=FakeSlurm)
    times: list[datetime] = field(default_factory=lambda: [datetime(2026, 11, 30, 12, 0, tzinfo=UTC)])
    """The time on the controller, each time that somebody asks; the last one stays."""

    def clock(self) -> datetime:
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]

    def snapshot(self, name: str) -> Snapshot | NotObserved:
        if self.hosts[name].dead:
            return NotObserved(host=name, code="GP-SSH-001", reason="connection refused")
        fake = self.hosts[name]
        seen: dict[str, Value] = {"x.driver": fake.version, "x.host": fake.loaded, "host.boot_id": f"boot-{fake.boot}"}
        if fake.gpus is not None:
            seen["gpu.count"] = fake.gpus
        if fake.proven:
            seen["gpuprov.proven"] = fake.proven
        facts = {address: Fact(address=address, observation=Known(value)) for address, value in seen.items()}
        return Snapshot(host=name, taken="2026-11-30T00:00:00Z", facts=facts)

    def observe(self, hosts: Sequence[Host]) -> Mapping[str, Snapshot | NotObserved]:
        return {host.name: self.snapshot(host.name) for host in hosts}

    def in_use(self, target: Target, _: Snapshot) -> tuple[Diagnostic, ...]:
        diagnostic = Diagnostic(code="GP-PRE-007", address=target.host.name, summary="somebody is there")
        return (diagnostic,) if self.hosts[target.host.name].busy else ()

    def stranded(self, target: Target, _: Snapshot) -> tuple[Diagnostic, ...]:
        diagnostic = Diagnostic(code="GP-PRE-006", address=target.host.name, summary="no module for the next boot")
        return (diagnostic,) if self.hosts[target.host.name].stranded else ()

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
                fake.gpus = fake.gpus if fake.gpus_after is None else fake.gpus_after
                self.site.slurm.rebooted(self.name)
            return Outcome(status=0, stdout=b"", stderr=b"", seconds=0.0)
        if command == "python3 -":
            self.site.diary.append(f"container {self.name}")
            lines = "".join(f"GPU {n}: NVIDIA H100 (UUID: GPU-{n})\n" for n in range(fake.container))
            return Outcome(status=0, stdout=lines.encode(), stderr=b"", seconds=0.0)
        if command.startswith(("mkdir ", "rm -f ", "if [ -e ")):
            return self._mark(command, fake)
        if "scontrol" in command or "squeue" in command:
            assert root
            return self.site.slurm.answer(command.partition("; ")[2], self.name)
        self.site.diary.append(f"verify {self.name}")
        return Outcome(status=fake.verify_status, stdout=b"", stderr=b"no devices\n", seconds=0.0)

    def _mark(self, command: str, fake: FakeHost) -> Outcome:
        if f"rm -f {PROVEN}" in command:
            fake.proven = ""
        if f"rm -f {DRAINED}" in command:
            fake.drained = ""
        shown = f"{fake.drained}\n" if f"cat {DRAINED}" in command and fake.drained else ""
        return Outcome(status=0, stdout=shown.encode(), stderr=b"", seconds=0.0)

    def hold(self, command: str, *, timeout: float, root: bool = False) -> FakeLock:
        fake = self.site.hosts[self.name]
        assert root
        assert "flock" in command
        fake.locks += 1
        return FakeLock(fake, fake.lock)

    def put(self, content: bytes, path: str, *, mode: int, root: bool = False) -> None:
        assert root
        setattr(self.site.hosts[self.name], {PROVEN: "proven", DRAINED: "drained"}[path], content.decode().strip())

    def close(self) -> None:
        """Nothing to close."""


def change(action: Action, subject: str, before: str, cost: Cost) -> Change:
    return Change(
        address=f"x.{subject}", action=action, subject=subject, before=before, after=WANTED, reason="lock", cost=cost
    )


def outcome(failed: tuple[Diagnostic, ...]) -> HostOutcome:
    status = HostStatus.FAILED if failed else HostStatus.OK
    return HostOutcome(status=status, changed=2, tasks=9, diagnostics=failed, packages=("driver 1.0 -> 2.0",))


def roll(
    site: Site,
    *,
    steps: RolloutSpec | None = None,
    verify: tuple[str, ...] = (),
    proven: bool = True,
    containers: bool = False,
    scheduler: str = "",
    cancel: threading.Event | None = None,
) -> dict[str, HostResult]:
    """Plan the site's hosts, all of one pool, and roll out."""
    targets = []
    for name, fake in site.hosts.items():
        dead, fake.dead = fake.dead, False
        seen = site.snapshot(name)
        assert isinstance(seen, Snapshot)
        target = Target(
            host=host_named(name),
            want=HostWant(host=name, pool=pool_want("train", verify), digest="sha256:host"),
            plan=HostPlan(host=name, pool="train", changes=()),
            steps=steps or RolloutSpec(),
            proven=proven,
            before=seen,
            containers=containers,
            scheduler=host_named(scheduler) if scheduler else None,
        )
        targets.append(replace(target, plan=site.plan(target, seen)))
        fake.dead = dead
    tools = Tools(
        connect=site.connect, observe=site.observe, converge=site.converge, plan=site.plan,
        record=lambda *_: None, clock=site.clock, in_use=site.in_use, stranded=site.stranded,
    )  # fmt: skip
    results = roll_out(
        targets, tools=tools, patience=PATIENCE, report=ignore_progress, cancel=cancel or threading.Event()
    )
    return {result.host: result for result in results}


def host_named(name: str) -> Host:
    """A host of the pool."""
    return Host(
        name=name, pool="train", target="onprem", connection=Connection(host=name, address=f"192.0.2.{ord(name[0])}")
    )


def told(results: Mapping[str, HostResult]) -> dict[str, tuple[HostState, list[str]]]:
    """State and codes of each host."""
    return {name: (result.state, [d.code for d in result.diagnostics]) for name, result in results.items()}
