"""The targets of a site: which there are, and which one a command means."""

from collections.abc import Collection
from typing import Final

from gpuprov.app.access import Access
from gpuprov.app.site import Site
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.spec.cloud import PoolCloudSpec

ONPREM: Final = "onprem"
CLOUD: Final = "cloud"


def targets_of(site: Site, access: Access) -> tuple[str, ...]:
    """The targets that the spec, or the command line's inventory, has hosts for; the rack first."""
    spec = site.spec
    racked = any(pool.onprem is not None for pool in spec.pools.values())
    found = []
    if racked and (spec.inventory is not None or access.inventory is not None):
        found.append(ONPREM)
    if spec.cloud is not None and any(pool.cloud is not None for pool in spec.pools.values()):
        found.append(CLOUD)
    # Without any, the rack is what the errors are about: it says which inventory is missing.
    return tuple(found) or (ONPREM,)


def choose_targets(site: Site, access: Access, target: str | None) -> tuple[str, ...]:
    """The targets of a command that looks: the one that was named, or all of the site.

    Raises:
        GpuprovError: GP-SPEC-008 when the spec has no such target; GP-RUN-004 for an inventory with the cloud alone.
    """
    if target is None:
        return targets_of(site, access)
    if target == CLOUD and CLOUD not in targets_of(site, access) and not _stands(site):
        raise GpuprovError(_not_there(site))
    if target == CLOUD and access.inventory is not None:
        raise GpuprovError(
            Diagnostic(
                code="GP-RUN-004",
                summary="an inventory says nothing about the cloud's hosts",
                hint="leave -i away, or name --target onprem",
            )
        )
    return (target,)


def choose_target(site: Site, access: Access, target: str | None) -> str:
    """The target of a command that changes hosts: it must be named where the site has several.

    Raises:
        GpuprovError: GP-RUN-004 when it is not named and there are several; else as `choose_targets`.
    """
    found = choose_targets(site, access, target)
    if len(found) > 1:
        raise GpuprovError(
            Diagnostic(
                code="GP-RUN-004",
                summary=f"the spec has several targets: {', '.join(found)}",
                detail="nothing was looked at or changed",
                hint=f"name one: {' or '.join(f'--target {name}' for name in found)}",
            )
        )
    return found[0]


def made_names(site: Site) -> dict[str, str]:
    """Name -> pool of every cloud host that the spec has made, in its order."""
    pools = site.spec.pools.values()
    return {name: pool.name for pool in pools if pool.cloud for name in pool.cloud.names(pool.name)}


def existing_pools(site: Site) -> dict[str, PoolCloudSpec]:
    """Name -> cloud part of every pool whose instances are there already."""
    pools = site.spec.pools.values()
    return {pool.name: pool.cloud for pool in pools if pool.cloud is not None and pool.cloud.existing is not None}


def cloud_names(site: Site) -> dict[str, str]:
    """Name -> pool of every cloud host: those that the spec has made, and those that the last look found there."""
    names = made_names(site)
    pools = existing_pools(site)
    if not pools:
        return names
    from gpuprov.app.cloud_existing import recorded_hosts  # noqa: PLC0415 - as above; and it stands on this file

    return names | {host.name: host.pool for host in recorded_hosts(site) if host.pool in pools}


def refuse_unclear_limit(targets: tuple[str, ...], access: Access, hint: str) -> None:
    """A limit names hosts of one target: of the inventory, or of the cloud.

    Raises:
        GpuprovError: GP-RUN-004 for a limit with several targets.
    """
    if len(targets) > 1 and access.limit is not None:
        summary = "a limit belongs to one target, and the spec has several"
        raise GpuprovError(Diagnostic(code="GP-RUN-004", summary=summary, hint=hint))


def refuse_shared_names(racked: Collection[str], cloud: Collection[str]) -> None:
    """A report names hosts by their names alone, so no name may belong to a host of each target.

    Raises:
        GpuprovError: GP-INV-005.
    """
    shared = sorted(set(racked) & set(cloud))
    if shared:
        raise GpuprovError(
            Diagnostic(
                code="GP-INV-005",
                address=shared[0],
                summary=f"a host of the rack and one in the cloud have the same name: {', '.join(shared)}",
                hint="write other names into pools.NAME.cloud.hosts, or name one --target",
            )
        )


def _stands(site: Site) -> bool:
    """Whether there is a stack although no pool asks for one: it must be possible to look at it and to remove it."""
    if site.spec.cloud is None:
        return False
    # Imported here: whoever has a rack does not wait for the cloud's libraries.
    from gpuprov.app.cloud_site import place_of  # noqa: PLC0415
    from gpuprov.cloud.state_names import is_kept  # noqa: PLC0415

    return is_kept(place_of(site, {}))


def _not_there(site: Site) -> Diagnostic:
    spec = site.spec
    if spec.cloud is None:
        return Diagnostic(
            code="GP-SPEC-008",
            address="targets.cloud",
            summary="the spec has no target `cloud`",
            hint="write targets.cloud with account, region and network; `gpuprov init` shows one",
        )
    return Diagnostic(
        code="GP-SPEC-008",
        address="pools",
        summary="no pool of the spec has hosts in the cloud",
        detail="pools: " + ", ".join(spec.pools),
        hint="write pools.NAME.cloud with an instance type and hosts",
    )
