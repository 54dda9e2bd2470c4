"""The owned packages of a pool: those that its lock pins, and which of them gpuprov never removes again."""

from gpuprov.lock.kernel import kernel_names
from gpuprov.lock.make import is_os_source
from gpuprov.lock.types import Lock, LockedPool
from gpuprov.model.package import PackageRow
from gpuprov.model.version import upstream
from gpuprov.want.types import PackageWant


def wanted_packages(lock: Lock, locked: LockedPool) -> tuple[PackageWant, ...]:
    """The locked packages of a pool, by name."""
    return tuple(
        PackageWant(
            name=row.name,
            version=row.version,
            arch=row.arch,
            source=row.source,
            sha256=row.sha256,
            needed=_needed(row, lock, locked),
        )
        for row in sorted(locked.packages, key=lambda row: row.name)
    )


def _needed(row: PackageRow, lock: Lock, locked: LockedPool) -> bool:
    """A kernel, which may be the one that runs; or a package of the OS that nobody asks for, which more may need."""
    if row.name in kernel_names(locked.kernel):
        return True
    asked = any(request.name == row.name for request in locked.requests) or upstream(row.version) == locked.driver
    return not asked and is_os_source(row.source, lock.sources)
