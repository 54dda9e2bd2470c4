"""What a probe has to look at so that a want can be compared."""

from dataclasses import dataclass

from gpuprov.want.files import source_paths
from gpuprov.want.types import HostWant, Owned, PoolWant


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """Members of families that a probe looks at only when it is asked to."""

    paths: tuple[str, ...] = ()
    """Files: digest, mode, owner, group and text."""
    services: tuple[str, ...] = ()
    exporters: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    """Paths of disks."""
    shares: tuple[str, ...] = ()
    """Places of shared storage."""
    rights: tuple[str, ...] = ()
    """Places of mounts whose lists of access control count."""
    settings: tuple[str, ...] = ()
    """Kernel settings, with dots."""

    def covers(self, other: "Asked") -> bool:
        """Whether a probe that was asked this has looked at everything that the other asks."""
        return (
            set(other.paths) <= set(self.paths)
            and set(other.services) <= set(self.services)
            and set(other.exporters) <= set(self.exporters)
            and set(other.devices) <= set(self.devices)
            and set(other.shares) <= set(self.shares)
            and set(other.rights) <= set(self.rights)
            and set(other.settings) <= set(self.settings)
        )


def owned_paths(owned: Owned) -> tuple[str, ...]:
    """Every path that gpuprov made on a host, with those of its sources."""
    of_sources = [path for name in owned.sources for path in source_paths(name)]
    return tuple(sorted({*owned.files, *of_sources}))


def looked_at_for(owned: Owned) -> tuple[str, ...]:
    """Every path that gpuprov's record makes worth looking at: its own, and those that it put keys into."""
    return tuple(sorted({*owned_paths(owned), *owned.merged}))


def wanted_paths(want: PoolWant) -> tuple[str, ...]:
    """Every path that a want writes."""
    of_sources = [path for source in want.sources for path, _ in source.files]
    return tuple(sorted({*(file.path for file in want.files), *of_sources}))


def asked_by(want: HostWant, owned: Owned | None = None) -> Asked:
    """Say what to look at for a want, and for what gpuprov made on the host before.

    The record of what it made is itself read by a probe: where it names paths that were not asked for (`covers`), a
    second look is needed, or files of ours would be taken for absent.
    """
    pool = want.pool
    before = looked_at_for(owned) if owned is not None else ()
    return Asked(
        paths=tuple(sorted({*wanted_paths(pool), *before})),
        services=tuple(sorted(service.name for service in pool.services)),
        exporters=pool.exporters,
        devices=tuple(sorted(mount.device for mount in pool.mounts if not mount.shared)),
        rights=tuple(
            sorted(m.place for m in pool.mounts if m.rights or (owned is not None and m.place in owned.rights))
        ),
        shares=tuple(sorted(mount.place for mount in pool.mounts if mount.shared)),
        settings=tuple(sorted({*pool.tuning.settings, *(owned.settings if owned is not None else ())})),
    )
