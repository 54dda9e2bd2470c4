"""Hosts by name, or all of them: of the inventory and of the stack where there are such, else as ssh knows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gpuprov.app.access import Access
from gpuprov.app.hosts import open_inventory, pool_hosts, with_password
from gpuprov.app.site import Site
from gpuprov.app.targets import (
    CLOUD,
    ONPREM,
    cloud_names,
    refuse_shared_names,
    refuse_unclear_limit,
    targets_of,
)
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.host import Host
from gpuprov.model.snapshot import NotObserved
from gpuprov.provision.named import host_from_name


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """The hosts that were meant."""

    hosts: tuple[Host, ...]
    absent: Mapping[str, NotObserved] = field(default_factory=dict)
    """Cloud hosts that were not made yet."""
    strangers: tuple[str, ...] = ()
    """Names that neither the inventory nor the spec knows; ssh may."""
    warnings: tuple[Diagnostic, ...] = ()


def named_hosts(names: Sequence[str], site: Site | None, access: Access, *, target: str | None = None) -> Named:
    """The hosts that the names mean.

    Args:
        names: empty takes all hosts of the site's pools, on all targets.
        site: None without a spec; then an inventory must be given, or every name is one that ssh knows.
        access: how to reach them.
        target: looks at one target only; None at all that the site has.

    Raises:
        GpuprovError: GP-INV codes; GP-CLOUD-013 when the stack's state is broken.
    """
    if site is None:
        return _known_to_ssh(names, None, access)
    targets = (target,) if target is not None else targets_of(site, access)
    if not names:
        return site_hosts(site, access, targets)
    in_cloud = [name for name in names if CLOUD in targets and name in cloud_names(site)]
    others = [name for name in names if name not in in_cloud]
    made = _cloud(site, replace(access, limit=None), in_cloud) if in_cloud else Named(hosts=())
    if ONPREM not in targets and not others:
        return made
    racked = _known_to_ssh(others, site, access, taken=in_cloud)
    order = {name: place for place, name in enumerate(names)}
    return Named(
        hosts=tuple(sorted((*made.hosts, *racked.hosts), key=lambda host: order.get(host.name, len(order)))),
        absent=made.absent,
        strangers=racked.strangers,
        warnings=racked.warnings,
    )


def site_hosts(site: Site, access: Access, targets: tuple[str, ...]) -> Named:
    """All hosts of the site's pools on some targets.

    Raises:
        GpuprovError: as `named_hosts`; GP-INV-005 when targets share a name; GP-RUN-004 for an unclear limit.
    """
    refuse_unclear_limit(targets, access, "name hosts, pools or a target instead")
    racked, warnings = pool_hosts(site, access) if ONPREM in targets else ((), ())
    if CLOUD not in targets:
        return Named(hosts=racked, warnings=warnings)
    refuse_shared_names([host.name for host in racked], cloud_names(site))
    made = _cloud(site, access, list(cloud_names(site)))
    return Named(hosts=(*racked, *made.hosts), absent=made.absent, warnings=warnings)


def _cloud(site: Site, access: Access, names: Sequence[str]) -> Named:
    # Imported here: whoever has a rack does not wait for the cloud's libraries.
    from gpuprov.app.cloud_existing import reachable  # noqa: PLC0415
    from gpuprov.app.cloud_hosts import names_within, not_made, stack_hosts  # noqa: PLC0415
    from gpuprov.app.cloud_site import read_stack  # noqa: PLC0415

    made = reachable(site, read_stack(site).made)
    missing = not_made(site, [host.name for host in made.hosts])
    asked = names_within(site, access.limit) & set(names)
    return Named(
        hosts=tuple(host for host in stack_hosts(made, site, access) if host.name in names),
        absent={name: found for name, found in missing.items() if name in asked},
    )


def _known_to_ssh(names: Sequence[str], site: Site | None, access: Access, *, taken: Sequence[str] = ()) -> Named:
    """Hosts of the inventory where there is one; a name that it lacks is one that ssh may know."""
    if access.inventory is None and (site is None or site.spec.inventory is None):
        hosts = tuple(_with_password(host_from_name(name), access) for name in names)
        return Named(hosts=hosts, strangers=tuple(names))
    inventory = open_inventory(site, access)
    if not names and not taken:
        return Named(hosts=tuple(_with_password(host, access) for host in inventory.hosts), warnings=inventory.warnings)
    known = {host.name: host for host in inventory.hosts}
    refuse_shared_names(known, taken)
    return Named(
        hosts=tuple(_with_password(known.get(name) or host_from_name(name), access) for name in names),
        strangers=tuple(name for name in names if name not in known),
        warnings=inventory.warnings,
    )


def _with_password(host: Host, access: Access) -> Host:
    return replace(host, connection=with_password(host.connection, access))
