"""The hosts of a site, with what each should be."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.components import catalog_components
from gpuprov.app.site import Site
from gpuprov.app.targets import ONPREM
from gpuprov.lock.types import Lock
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Connection, Host
from gpuprov.provision.onprem import Inventory, hosts_of, read_inventory
from gpuprov.want.empty import empty_want
from gpuprov.want.host import host_want
from gpuprov.want.mounts import MountWant, mount_wants
from gpuprov.want.pool import pool_want
from gpuprov.want.types import HostWant, PoolWant


@dataclass(frozen=True, kw_only=True, slots=True)
class Fleet:
    """The hosts of this run, in the inventory's order, and their wants."""

    hosts: tuple[Host, ...]
    wants: dict[str, HostWant]
    warnings: tuple[Diagnostic, ...]


def open_inventory(site: Site | None, access: Access) -> Inventory:
    """Read the inventory that the command line or the spec names.

    Raises:
        GpuprovError: GP-INV codes; GP-INV-001 also when none is named.
    """
    path = access.inventory
    if path is None and site is not None and site.spec.inventory is not None:
        path = str(site.path.parent / site.spec.inventory)
    if path is None:
        raise GpuprovError(
            Diagnostic(
                code="GP-INV-001",
                address="targets.onprem.inventory",
                summary="no inventory is named",
                hint="give one with -i, or write targets.onprem.inventory into the spec",
            )
        )
    return read_inventory(Path(path), vault_password_file=access.vault_password_file, limit=access.limit)


def open_fleet(site: Site, lock: Lock, access: Access) -> Fleet:
    """All hosts of all pools that have a group in the rack, with their wants."""
    hosts, warnings = pool_hosts(site, access)
    return Fleet(hosts=hosts, wants=wants_of(site, lock, hosts), warnings=warnings)


def wants_of(site: Site, lock: Lock, hosts: Sequence[Host]) -> dict[str, HostWant]:
    """What each host should be, by its pool and its target."""
    components = catalog_components(site.spec.catalog)
    wants: dict[str, HostWant] = {}
    for name, target in dict.fromkeys((host.pool, host.target) for host in hosts):
        pool = pool_want(lock, site.spec, site.pool(name), target, components=components)
        ours = (host for host in hosts if (host.pool, host.target) == (name, target))
        wants |= {host.name: host_want(pool, host.name, _own_mounts(site, pool, host)) for host in ours}
    return wants


def _own_mounts(site: Site, pool: PoolWant, host: Host) -> tuple[MountWant, ...]:
    """What a host mounts besides what all hosts of its pool mount alike."""
    mounts = mount_wants(site.spec.storage, site.spec.access, host.pool, host.target, host.storage)
    return tuple(mount for mount in mounts if mount not in pool.mounts)


def open_released_fleet(site: Site, access: Access) -> Fleet:
    """The same hosts with empty wants: what `destroy` brings them to."""
    hosts, warnings = pool_hosts(site, access)
    wants = {host.name: host_want(empty_want(host.pool, ONPREM, "", ""), host.name) for host in hosts}
    return Fleet(hosts=hosts, wants=wants, warnings=warnings)


def pool_hosts(site: Site, access: Access) -> tuple[tuple[Host, ...], tuple[Diagnostic, ...]]:
    """The hosts of the spec's pools, by the inventory's groups.

    Raises:
        GpuprovError: GP-INV codes; GP-INV-002 when no pool has a host; GP-INV-005 for a host of two pools.
    """
    inventory = open_inventory(site, access)
    hosts: list[Host] = []
    for pool in site.spec.pools.values():
        if pool.onprem is None:
            continue
        for host in hosts_of(inventory, pool.onprem.group):
            taken = next((h for h in hosts if h.name == host.name), None)
            if taken is not None:
                raise GpuprovError(_two_pools(host.name, taken.pool, pool.name))
            hosts.append(
                replace(host, pool=pool.name, target=ONPREM, connection=with_password(host.connection, access))
            )
    if not hosts:
        raise GpuprovError(_no_hosts(site, access))
    return tuple(hosts), inventory.warnings


def with_password(connection: Connection, access: Access) -> Connection:
    """A connection with the sudo password of the command line, where the inventory gives none."""
    if access.become_password is None or connection.become.password is not None:
        return connection
    return replace(connection, become=replace(connection.become, password=access.become_password))


def names(hosts: Sequence[Host]) -> list[str]:
    """The hosts' names."""
    return [host.name for host in hosts]


def _two_pools(host: str, first: str, second: str) -> Diagnostic:
    return Diagnostic(
        code="GP-INV-005",
        address=host,
        summary=f"the host belongs to two pools, `{first}` and `{second}`",
        hint="a host has one want: take it out of one of the two inventory groups",
    )


def _no_hosts(site: Site, access: Access) -> Diagnostic:
    groups = [pool.onprem.group for pool in site.spec.pools.values() if pool.onprem]
    limit = f" within the limit `{access.limit}`" if access.limit else ""
    return Diagnostic(
        code="GP-INV-002",
        summary=f"no host belongs to a pool of the spec{limit}",
        detail="inventory groups that the spec's pools name: " + (", ".join(groups) or "none"),
        hint="write the hosts into these groups, or name another group in pools.NAME.onprem.group",
    )
