"""The hosts that a stack holds: which of them can be looked at, and why the others cannot."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.cloud_site import cloud_folder
from gpuprov.app.hosts import Fleet, wants_of, with_password
from gpuprov.app.site import Site
from gpuprov.app.targets import cloud_names
from gpuprov.cloud.types import InstanceHealth, InstanceState, Made, MadeHost
from gpuprov.lock.types import Lock
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Host
from gpuprov.model.snapshot import NotObserved
from gpuprov.provision.cloud import cloud_hosts
from gpuprov.provision.host_keys import Record, forget, read_record


@dataclass(frozen=True, kw_only=True, slots=True)
class Sorted:
    """The hosts of a stack."""

    running: Made
    absent: Mapping[str, NotObserved]
    """Those that do not run, each with the way out."""


def sort_hosts(made: Made, health: Mapping[str, InstanceHealth], *, region: str) -> Sorted:
    """Tell the hosts that run, with the addresses that they have now, from those that do not.

    Args:
        made: what the stack holds.
        health: what EC2 says, by instance id; an instance that it does not know is missing.
        region: for the commands that the hints name.
    """
    running, absent = [], {}
    for host in made.hosts:
        found = health.get(host.instance_id)
        if found is not None and found.state in {InstanceState.RUNNING, InstanceState.PENDING}:
            running.append(_with_addresses(host, found))
        else:
            absent[host.name] = _not_running(host, found, region)
    return Sorted(running=replace(made, hosts=tuple(running)), absent=absent)


def as_last_reached(made: Made, *, folder: Path) -> Made:
    """What the stack holds, with the addresses at which hosts were reached last: a stop and start moves them."""
    record = read_record(folder)
    return replace(made, hosts=tuple(_as_recorded(host, record) for host in made.hosts))


def stack_hosts(made: Made, site: Site, access: Access) -> tuple[Host, ...]:
    """The hosts of a stack that the spec holds and the limit leaves, in the spec's order.

    Raises:
        GpuprovError: GP-CLOUD-026 for a name in the limit that is no cloud host and no pool.
    """
    order = cloud_names(site)
    wanted = names_within(site, access.limit)
    ours_now = only(made, lambda name: name in wanted)
    # The state knows a host's pool as of the last update; what a host must be is what the spec says now.
    placed = replace(ours_now, hosts=tuple(replace(host, pool=order[host.name]) for host in ours_now.hosts))
    hosts = cloud_hosts(placed, site.spec, folder=cloud_folder(site))
    places = {name: place for place, name in enumerate(order)}
    ours = sorted(hosts, key=lambda host: places[host.name])
    return tuple(replace(host, connection=with_password(host.connection, access)) for host in ours)


def fleet_of(site: Site, lock: Lock, made: Made, access: Access) -> Fleet:
    """The hosts of a stack with their wants."""
    hosts = stack_hosts(made, site, access)
    return Fleet(hosts=hosts, wants=wants_of(site, lock, hosts), warnings=())


def only(made: Made, keep: Callable[[str], bool]) -> Made:
    """What the stack holds, with some of its hosts only."""
    return replace(made, hosts=tuple(host for host in made.hosts if keep(host.name)))


def coming_up(made: Made, health: Mapping[str, InstanceHealth], *, folder: Path) -> Made:
    """The hosts that nobody has reached yet, or that are being started: they are waited for. Others are just probed."""
    record = read_record(folder)
    fresh = {
        host.name
        for host in made.hosts
        if host.instance_id not in record or health[host.instance_id].state is InstanceState.PENDING
    }
    return only(made, lambda name: name in fresh)


def forget_gone(before: Made, after: Made, *, folder: Path) -> None:
    """Take the keys of instances that are gone out of known_hosts: their addresses will be other instances'."""
    there = {host.instance_id for host in after.hosts}
    forget(folder, [host.instance_id for host in before.hosts if host.instance_id not in there])


def not_made(site: Site, there: Collection[str]) -> dict[str, NotObserved]:
    """The cloud hosts of the spec that the stack does not hold."""
    return {
        name: NotObserved(
            host=name,
            code="GP-CLOUD-026",
            reason="the host has not been made yet",
            hint="`gpuprov up --target cloud` makes it",
        )
        for name in cloud_names(site)
        if name not in there
    }


def _with_addresses(host: MadeHost, found: InstanceHealth) -> MadeHost:
    if not found.private_address:
        return host
    return replace(host, private_address=found.private_address, public_address=found.public_address)


def _as_recorded(host: MadeHost, record: Record) -> MadeHost:
    known = record.get(host.instance_id)
    # A private address is for life; only the public one moves.
    if known is None or not known.address or not host.public_address:
        return host
    return replace(host, public_address=known.address)


def names_within(site: Site, limit: str | None) -> set[str]:
    """The spec's cloud hosts that a limit leaves: all of them without one.

    Raises:
        GpuprovError: GP-CLOUD-026 for a word that is no cloud host and no pool.
    """
    order = cloud_names(site)
    if limit is None:
        return set(order)
    words = [word for word in limit.split(",") if word]
    unknown = [word for word in words if word not in order and word not in order.values()]
    if unknown:
        raise GpuprovError(
            Diagnostic(
                code="GP-CLOUD-026",
                address=unknown[0],
                summary=f"the limit names no cloud host and no pool: {', '.join(unknown)}",
                detail=f"hosts: {', '.join(order)}\npools: {', '.join(dict.fromkeys(order.values()))}",
            )
        )
    return {name for name, pool in order.items() if name in words or pool in words}


def _not_running(host: MadeHost, found: InstanceHealth | None, region: str) -> NotObserved:
    if found is None or found.state in {InstanceState.TERMINATED, InstanceState.SHUTTING_DOWN}:
        return NotObserved(
            host=host.name,
            code="GP-CLOUD-016",
            reason=f"the instance {host.instance_id} is gone, and gpuprov did not remove it",
            detail=found.reason if found else f"EC2 does not know it in {region}",
            hint=f"`gpuprov up --target cloud --replace {host.name}` makes another one",
        )
    if found.switched_off:
        return NotObserved(
            host=host.name,
            code="GP-CLOUD-088",
            reason=f"the instance {host.instance_id} is {found.state}: somebody switched it off, and it is left alone",
            detail=found.reason,
            hint=f"`gpuprov start {host.name}` switches it on",
            off=True,
        )
    return NotObserved(
        host=host.name,
        code="GP-CLOUD-016",
        reason=f"the instance {host.instance_id} is {found.state}",
        detail=found.reason,
        hint=f"`gpuprov start {host.name}` starts it; `gpuprov up --target cloud --replace {host.name}` makes another",
    )
