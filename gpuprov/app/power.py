"""`stop` and `start`: cloud hosts are switched off, free of work, and on again; they keep all but their local disks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gpuprov.app.access import Access
from gpuprov.app.cloud_ground import BOOT_SECONDS, split_silent
from gpuprov.app.cloud_hosts import only, sort_hosts
from gpuprov.app.cloud_records import standing_in, unknown_name
from gpuprov.app.cloud_site import CloudSite, open_cloud
from gpuprov.app.interrupt import cancelled_by_interrupt
from gpuprov.app.leaving import leaving_hosts, take_off
from gpuprov.app.left_pools import as_in_spec, with_left_pools
from gpuprov.app.site import open_site
from gpuprov.catalog.find import instance as instance_row
from gpuprov.cloud.types import InstanceHealth, InstanceState, Made
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, status_of
from gpuprov.model.power import PowerHost
from gpuprov.model.progress import Report
from gpuprov.model.status import ExitStatus
from gpuprov.provision.cloud import jump_of, wait_for_hosts
from gpuprov.spec.market import SPOT
from gpuprov.store.lock import hold_site

STOP_SECONDS: Final = 900.0
"""How long instances may take to stop: a GPU server's shutdown, and EC2's own cleaning, take minutes."""
_OFF: Final = frozenset({InstanceState.STOPPED, InstanceState.STOPPING})
_GONE: Final = frozenset({InstanceState.TERMINATED, InstanceState.SHUTTING_DOWN})


@dataclass(frozen=True, kw_only=True, slots=True)
class Power:
    """What was done."""

    hosts: tuple[PowerHost, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def status(self) -> ExitStatus:
        """The exit status of the command."""
        return status_of(self.diagnostics)


Agree = Callable[[Sequence[PowerHost]], bool]
"""Shows the hosts that would be stopped and asks whether to go on."""


def stop(path: Path, names: Sequence[str], access: Access, *, disturb: bool, agree: Agree, report: Report) -> Power:
    """Take the work off hosts, stop their instances, and wait until they have stopped.

    Args:
        path: the spec.
        names: hosts and pools.
        access: how schedulers of the inventory are reached.
        disturb: whether hosts are stopped although work cannot be taken off them.
        agree: asked once; not when all of them are stopped already.
        report: where progress goes.

    Raises:
        GpuprovError: GP-CLOUD-026 for a name that is no host of the stack and no pool; GP-CLOUD-058 for a host that
            cannot be stopped as it was bought; what AWS says.
    """
    site = open_site(path)
    with hold_site(site.state, ["gpuprov", "stop"]):
        place = open_cloud(site)
        made, health = _asked(place, names)
        running = only(made, lambda name: _state(made, health, name) not in _OFF)
        _refuse_one_time(place, running)
        running = as_in_spec(site, running)
        leaving = leaving_hosts(running, health, with_left_pools(site, running), access)
        words = {one.host.name: one.words for one in leaving}
        rows = _rows(made, health, words, place)
        if not running.hosts:
            return Power(hosts=rows)
        if not agree([row for row in rows if row.name in {host.name for host in running.hosts}]):
            return Power(hosts=rows)
        with cancelled_by_interrupt(report) as cancel:
            busy = take_off(leaving, disturb=disturb, report=report, cancel=cancel)
            if status_of(busy) is not ExitStatus.DONE:
                return Power(hosts=rows, diagnostics=busy)
            ids = [host.instance_id for host in running.hosts]
            place.account.switch(ids, on=False, seconds=STOP_SECONDS, report=report)
        return Power(hosts=_rows(made, _health(place, made), {}, place), diagnostics=busy)


def start(path: Path, names: Sequence[str], *, report: Report, seconds: float = BOOT_SECONDS) -> Power:
    """Start instances that are stopped, and wait until the hosts answer as `up` does.

    Args:
        path: the spec.
        names: hosts and pools.
        report: where progress goes.
        seconds: how long they may take.

    Raises:
        GpuprovError: as `stop`; GP-CLOUD-008 when AWS has no capacity for them now.
    """
    site = open_site(path)
    with hold_site(site.state, ["gpuprov", "start"]), cancelled_by_interrupt(report) as cancel:
        place = open_cloud(site)
        made, health = _asked(place, names)
        off = only(made, lambda name: _state(made, health, name) in _OFF)
        if off.hosts:
            place.account.switch([host.instance_id for host in off.hosts], on=True, seconds=seconds, report=report)
        # A start gives another public address.
        health = _health(place, made)
        there = sort_hosts(made, health, region=place.cloud.region).running
        told = wait_for_hosts(
            place.account,
            there,
            folder=place.folder,
            report=report,
            seconds=seconds,
            cancel=cancel,
            jump=jump_of(place.cloud, site.path),
        )
        others, silent = split_silent(told, {host.name for host in there.hosts})
        missing = tuple(found.diagnostic for found in silent.values())
        return Power(hosts=_rows(made, health, {}, place), diagnostics=(*others, *missing))


def _asked(place: CloudSite, names: Sequence[str]) -> tuple[Made, dict[str, InstanceHealth]]:
    """The hosts of the stack that are meant, and what EC2 says of them.

    Raises:
        GpuprovError: GP-CLOUD-026 for a name that means none; GP-CLOUD-016 for an instance that is gone.
    """
    made = place.stack.state().made
    pools = {host.pool for host in made.hosts}
    known = {*pools, *(host.name for host in made.hosts)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise GpuprovError(*(unknown_name(name, sorted(known)) for name in unknown))
    meant = replace(made, hosts=tuple(host for host in made.hosts if {host.name, host.pool} & set(names)))
    health = _health(place, meant)
    gone = sort_hosts(meant, health, region=place.cloud.region).absent
    lost = [gone[h.name] for h in meant.hosts if h.instance_id not in health or health[h.instance_id].state in _GONE]
    if lost:
        raise GpuprovError(*(found.diagnostic for found in lost))
    return meant, health


def _health(place: CloudSite, made: Made) -> dict[str, InstanceHealth]:
    return dict(place.account.health([host.instance_id for host in made.hosts]))


def _state(made: Made, health: dict[str, InstanceHealth], name: str) -> InstanceState:
    return next(health[host.instance_id].state for host in made.hosts if host.name == name)


def _rows(
    made: Made, health: dict[str, InstanceHealth], words: dict[str, str], place: CloudSite
) -> tuple[PowerHost, ...]:
    catalog = place.site.spec.catalog
    return tuple(
        PowerHost(
            name=host.name,
            pool=host.pool,
            instance=host.instance_id,
            state=str(health[host.instance_id].state) if host.instance_id in health else "unknown",
            drained=words.get(host.name, ""),
            loses=bool((row := instance_row(host.type, catalog)) is not None and row.local_nvme_gb),
        )
        for host in made.hosts
    )


def _refuse_one_time(place: CloudSite, running: Made) -> None:
    """A spot instance of a one-time request cannot be stopped (EC2 User Guide, Spot Instances, read 2026-11-30)."""
    standing = standing_in(place.stack.state()).hosts
    spot = [host.name for host in running.hosts if host.name in standing and standing[host.name].bought.kind == SPOT]
    if spot:
        raise GpuprovError(
            *(
                Diagnostic(
                    code="GP-CLOUD-058",
                    address=name,
                    summary=f"{name} is a spot instance, which AWS does not stop",
                    detail="nothing was changed",
                    hint=f"take it out of the spec and give `gpuprov up --target cloud --remove {name}`",
                )
                for name in spot
            )
        )
