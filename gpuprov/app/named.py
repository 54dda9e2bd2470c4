"""Hosts by name: of the inventory where there is one, else as ssh knows them."""

from collections.abc import Sequence
from dataclasses import replace

from gpuprov.app.access import Access
from gpuprov.app.hosts import open_inventory, pool_hosts, with_password
from gpuprov.app.site import Site
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.host import Host
from gpuprov.provision.named import host_from_name


def named_hosts(
    names: Sequence[str], site: Site | None, access: Access
) -> tuple[tuple[Host, ...], tuple[Diagnostic, ...]]:
    """The hosts that the names mean.

    Args:
        names: empty takes all hosts of the site's pools.
        site: None without a spec; then an inventory must be given, or every name is one that ssh knows.
        access: how to reach them.

    Raises:
        GpuprovError: GP-INV codes.
    """
    if not names and site is not None:
        return pool_hosts(site, access)
    has_inventory = access.inventory is not None or (site is not None and site.spec.inventory is not None)
    if not has_inventory:
        return tuple(_with_password(host_from_name(name), access) for name in names), ()
    inventory = open_inventory(site, access)
    if not names:
        return tuple(_with_password(host, access) for host in inventory.hosts), inventory.warnings
    known = {host.name: host for host in inventory.hosts}
    return (
        tuple(_with_password(known.get(name) or host_from_name(name), access) for name in names),
        inventory.warnings,
    )


def _with_password(host: Host, access: Access) -> Host:
    return replace(host, connection=with_password(host.connection, access))
