"""A want without what must be left as it is: what a waiver covers, and what nobody could look at."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from gpuprov.model.address import split_address
from gpuprov.want.containerd import CRI, RUNTIMES
from gpuprov.want.files import source_paths
from gpuprov.want.frameworks import ENVIRONMENT, FAMILY
from gpuprov.want.mounts import FAMILY as DEVICES
from gpuprov.want.mounts import SHARES
from gpuprov.want.rights import FAMILY as RIGHTS
from gpuprov.want.settled import SSH_KEYS
from gpuprov.want.types import AccessWant, HostWant, TuningWant

_LOADED: Final = frozenset({"stack.driver.loaded", "stack.driver.nvml", "stack.driver.modules"})


def leave_alone(want: HostWant, addresses: Collection[str]) -> HostWant:
    """A want that does not touch what stands at these addresses.

    A play works from a want, not from a plan; without this, what the plan rightly left out would be changed all the
    same, unsaid.

    Args:
        want: the host's.
        addresses: of findings that the plan has no change for: waived, or not observed.

    Returns:
        The want without those packages, files, sources and services; without a driver to load when that is among
        them. The digest stays: it is still the same want.
    """
    members = {parts[:2] for address in addresses if (parts := split_address(address)) is not None}
    files = {name for family, name in members if family == "file"}
    frameworks = ENVIRONMENT in addresses or FAMILY in {family for family, _ in members}
    pool = want.pool
    return replace(
        want,
        pool=replace(
            pool,
            packages=tuple(package for package in pool.packages if ("package", package.name) not in members),
            files=tuple(file for file in pool.files if file.path not in files),
            sources=tuple(source for source in pool.sources if not files & set(source_paths(source.name))),
            services=tuple(service for service in pool.services if ("service", service.name) not in members),
            access=_access_without(pool.access, addresses, members),
            tuning=_tuning_without(pool.tuning, members),
            driver=None if _LOADED & set(addresses) else pool.driver,
            # An environment is made whole or not at all.
            frameworks=None if frameworks else pool.frameworks,
            mounts=tuple(
                replace(mount, rights=()) if (RIGHTS, mount.place) in members else mount
                for mount in pool.mounts
                if ((SHARES, mount.place) if mount.shared else (DEVICES, mount.device)) not in members
            ),
            containerd=pool.containerd and not {CRI, RUNTIMES} & set(addresses),
        ),
    )


def _access_without(access: AccessWant, addresses: Collection[str], members: Collection[tuple[str, ...]]) -> AccessWant:
    left = {name for family, name in members if family == "user"}
    return replace(
        access,
        users=tuple(user for user in access.users if user.name not in left),
        groups=tuple(
            replace(group, members=tuple(name for name in group.members if name not in left))
            for group in access.groups
            if ("group", group.name) not in members
        ),
        keys=access.keys and SSH_KEYS not in addresses,
    )


def _tuning_without(tuning: TuningWant, members: Collection[tuple[str, ...]]) -> TuningWant:
    kept = {key: value for key, value in tuning.settings.items() if ("sysctl", key) not in members}
    return replace(tuning, settings=kept)
