"""Hosts of the cloud that are about to go: their work is taken off them first, as their pools say."""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpuprov.app.access import Access
from gpuprov.app.cloud_site import cloud_folder
from gpuprov.app.hosts import with_password
from gpuprov.app.left_pools import as_in_spec, with_left_pools, without_drain
from gpuprov.app.site import Site
from gpuprov.app.steps import drain_words, schedulers_of
from gpuprov.cloud.types import InstanceHealth, InstanceState, Made
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.host import Host
from gpuprov.model.progress import Report
from gpuprov.provision.cloud import cloud_hosts
from gpuprov.rollout.drain import Drained, drain_host, give_back, write_mark
from gpuprov.rollout.reboot import Connect
from gpuprov.spec.rollout import DrainSpec, RolloutSpec
from gpuprov.transport.pool import run_on_all
from gpuprov.transport.ssh import connect

_WIDTH: Final = 32
"""Hosts that are drained at the same time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Hands:
    """What a drain needs: the way to a host. The journal names the hosts that go already."""

    connect: Connect
    record: Callable[[str, str, Mapping[str, object]], None]


_HANDS: Final = _Hands(connect=lambda host: connect(host.connection), record=lambda _step, _event, _fields: None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Leaving:
    """One host that is about to go, or to be switched off."""

    host: Host
    steps: RolloutSpec
    drain: DrainSpec
    """What of `steps` takes its work off."""
    scheduler: Host | None = None

    @property
    def words(self) -> str:
        """How it is drained, for the plan."""
        return drain_words(self.drain)


def leaving_hosts(made: Made, health: Mapping[str, InstanceHealth], site: Site, access: Access) -> tuple[Leaving, ...]:
    """The hosts on which work may still run, and whose pools say how it is taken off them.

    Args:
        made: the hosts that go.
        health: what EC2 says, by instance id: nothing runs on one that is stopped or gone.
        site: the spec, with the pools' drains, and with those of pools that left it (`with_left_pools`).
        access: how schedulers of the inventory are reached.

    Raises:
        GpuprovError: GP-INV-004 for a scheduler that the inventory does not have.
    """
    running = replace(made, hosts=tuple(host for host in made.hosts if _runs(health.get(host.instance_id))))
    rollouts = {name: pool.rollout for name, pool in site.spec.pools.items()}
    asked = {drain.on for host in running.hosts if (drain := _drain(rollouts, host.pool)) is not None and drain.on}
    schedulers = schedulers_of(site, asked, access) if asked else {}
    return tuple(
        Leaving(
            host=replace(host, connection=with_password(host.connection, access)),
            steps=rollouts[host.pool],
            drain=drain,
            scheduler=schedulers.get(drain.on),
        )
        for host in cloud_hosts(running, site.spec, folder=cloud_folder(site))
        if (drain := _drain(rollouts, host.pool)) is not None
    )


def free_before_they_go(
    made: Made, health: Mapping[str, InstanceHealth], site: Site, access: Access
) -> tuple[tuple[Leaving, ...], tuple[Diagnostic, ...]]:
    """The hosts whose work is taken off before they go, and a warning for each of whose pool nothing is known any more.

    Args:
        made: the hosts that go, with the pools that the state knows them in.
        health: what EC2 says, by instance id.
        site: the spec as it is now.
        access: how schedulers of the inventory are reached.

    Raises:
        GpuprovError: as `leaving_hosts`.
    """
    going = as_in_spec(site, made)
    freeing = with_left_pools(site, going)
    return leaving_hosts(going, health, freeing, access), without_drain(going, health, freeing)


def take_off(
    leaving: Sequence[Leaving], *, disturb: bool, report: Report, cancel: threading.Event
) -> tuple[Diagnostic, ...]:
    """Drain hosts, all or none: where one stays busy, the others get their work back, and errors say so.

    Args:
        leaving: the hosts.
        disturb: whether a host that cannot be drained goes all the same; a warning then.
        report: where progress goes.
        cancel: ends waiting.
    """

    def drain(one: Leaving) -> Drained:
        return drain_host(one, one.drain, tools=_HANDS, report=report, cancel=cancel)

    drained = dict(zip((one.host.name for one in leaving), run_on_all(leaving, drain, limit=_WIDTH), strict=True))
    errors = tuple(d for one in drained.values() for d in one.refused)
    if not errors:
        return ()
    if disturb and not cancel.is_set():
        return tuple(replace(error, severity=Severity.WARNING) for error in errors)
    free = [one for one in leaving if not drained[one.host.name].refused]
    back = return_work(free, report=report)
    # Who pressed Ctrl-C asked for no way on.
    return (*(errors if cancel.is_set() else map(_with_way, errors)), *back)


def _with_way(error: Diagnostic) -> Diagnostic:
    way = "--disturb lets the host go all the same, and ends what runs there"
    return replace(error, hint=f"{error.hint}; {way}" if error.hint else way)


def return_work(leaving: Sequence[Leaving], *, report: Report) -> tuple[Diagnostic, ...]:
    """Give hosts that stay after all their work back; what cannot be given back is told."""
    never = threading.Event()
    return tuple(
        diagnostic
        for one in leaving
        for diagnostic in give_back(one, one.drain.by, tools=_HANDS, report=report, cancel=never).refused
    )


def stayed(leaving: Sequence[Leaving], before: Made, after: Made) -> tuple[Leaving, ...]:
    """Those whose instances stand as they did: the run ended before they went."""
    there = {host.instance_id for host in after.hosts}
    same = {host.name for host in before.hosts if host.instance_id in there}
    return tuple(one for one in leaving if one.host.name in same)


def mark_new(leaving: Sequence[Leaving], made: Collection[Host]) -> tuple[Diagnostic, ...]:
    """Write on the new instances of drained hosts that gpuprov took their work: it comes back once they are proven."""
    by_name = {host.name: host for host in made}
    told: list[Diagnostic] = []
    for one in leaving:
        if one.host.name not in by_name:
            continue
        try:
            write_mark(replace(one, host=by_name[one.host.name]), one.drain.by, _HANDS)
        except GpuprovError as error:
            told += [replace(d, severity=Severity.WARNING) for d in error.diagnostics]
    return tuple(told)


def _drain(rollouts: Mapping[str, RolloutSpec], pool: str) -> DrainSpec | None:
    return rollouts[pool].drain if pool in rollouts else None


def _runs(health: InstanceHealth | None) -> bool:
    return health is not None and health.state is InstanceState.RUNNING
