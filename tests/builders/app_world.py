"""A site in the cloud whose account, stack and hosts are in memory; the use cases above them are the real ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ground_builders import SPEC, FakeAccount, FakeStack, cloud_lock, make_place, make_site
from host_builders import fresh, satisfied

from gpuprov.app import cloud_ground, late_storage, up
from gpuprov.app.access import Access
from gpuprov.app.cloud_site import CloudSite
from gpuprov.app.ground import UpRequest
from gpuprov.app.hosts import Fleet
from gpuprov.app.planning import plan_fleet
from gpuprov.app.rolling import Work
from gpuprov.app.site import Site
from gpuprov.cloud.types import Made
from gpuprov.model.change import Plan
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.planned import Planned
from gpuprov.model.progress import ignore_progress
from gpuprov.model.run import HostResult, HostState, RunResult
from gpuprov.model.snapshot import NotObserved


@dataclass
class World:
    """What a test sets and sees."""

    site: Site
    stack: FakeStack = field(default_factory=FakeStack)
    account: FakeAccount = field(default_factory=FakeAccount)
    builders: dict[str, FakeStack] = field(default_factory=dict)
    """Pool -> stack of an image builder."""
    wanted: set[str] = field(default_factory=set)
    """Hosts that are as wanted already; others are fresh."""
    unreachable: set[str] = field(default_factory=set)
    """Hosts that answer only after the account was changed."""
    silent: dict[str, Diagnostic] = field(default_factory=dict)
    """Hosts that do not come up."""
    away: GpuprovError | None = None
    """What AWS answers while hosts are waited for."""
    asked: list[tuple[Plan, tuple[Diagnostic, ...]]] = field(default_factory=list)
    answer: bool = True
    converged: list[list[str]] = field(default_factory=list)
    proven: list[list[str]] = field(default_factory=list)

    def rewrite(self, *hosts: str, text: str = SPEC) -> None:
        """Write another spec over this one."""
        self.site = make_site(self.site.path.parent, *hosts, text=text)

    @property
    def place(self) -> CloudSite:
        """The site's cloud."""
        return make_place(self.site, self.stack, self.account, self.builders)

    def up(self, **request: Any) -> RunResult:
        """Run `up`, or `destroy` with release=True."""

        def ask(plan: Plan, told: Sequence[Diagnostic]) -> bool:
            self.asked.append((plan, tuple(told)))
            return self.answer

        full = UpRequest(spec=self.site.path, **{"access": Access(), **request})
        return up.up(full, ask=ask, report=ignore_progress)

    def destroy(self, *delete_data: str) -> RunResult:
        """Run `destroy`."""
        return self.up(release=True, delete_data=delete_data)

    def codes(self, result: RunResult) -> list[str]:
        """The codes of what was told."""
        return [diagnostic.code for diagnostic in result.diagnostics]


def make_world(folder: Path, patch: pytest.MonkeyPatch, *hosts: str, text: str = SPEC) -> World:
    """A world with some hosts in its spec; the same folder holds the same account."""
    world = World(site=make_site(folder, *hosts, text=text))

    def look_and_plan(
        fleet: Fleet, access: Any, report: Any, *, lock: str, waivers: Any = (), terms: Any = None
    ) -> Planned:
        del access, report
        lost = world.unreachable if "apply" not in world.stack.calls else set()
        wants = {host.name: fleet.wants[host.name] for host in fleet.hosts}
        snapshots = {
            name: satisfied(want) if name in world.wanted else fresh(want)
            for name, want in wants.items()
            if name not in lost
        }
        missing = {n: NotObserved(host=n, code="GP-SSH-001", reason="no answer") for n in wants if n in lost}
        return plan_fleet(fleet, snapshots, missing, lock=lock, waivers=waivers, terms=terms)

    def converge(work: Work, **_: Any) -> tuple[HostResult, ...]:
        plans = work.planned.plan.hosts
        world.converged.append([plan.host for plan in plans if plan.changes])
        world.wanted |= {plan.host for plan in plans}
        return tuple(
            HostResult(host=plan.host, pool=plan.pool, state=HostState.CHANGED if plan.changes else HostState.SATISFIED)
            for plan in plans
        )

    def prove(work: Work, **_: Any) -> tuple[HostResult, ...]:
        world.proven.append([host.name for host in work.fleet.hosts])
        return tuple(HostResult(host=h.name, pool=h.pool, state=HostState.SATISFIED) for h in work.fleet.hosts)

    def wait(_account: Any, made: Made, **_: Any) -> tuple[Diagnostic, ...]:
        if world.away is not None:
            raise world.away
        return tuple(world.silent[host.name] for host in made.hosts if host.name in world.silent)

    patch.setattr(up, "look_and_plan", look_and_plan)
    patch.setattr(late_storage, "look_and_plan", look_and_plan)
    patch.setattr(up, "foresee", lambda planned, _fleet, **_: planned)
    patch.setattr(up, "converge_hosts", converge)
    patch.setattr(up, "prove_hosts", prove)
    patch.setattr(cloud_ground, "wait_for_hosts", wait)
    patch.setattr(cloud_ground, "open_lock", lambda _site: (cloud_lock(), "lock"))
    patch.setattr(cloud_ground, "refuse_stale_lock", lambda _site, _lock: None)
    patch.setattr("gpuprov.app.cloud_site.open_cloud", lambda _site: world.place)
    return world
