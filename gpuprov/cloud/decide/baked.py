"""The baked part of a pool: what an image holds, so that hosts started from it need no package."""

from dataclasses import asdict, replace
from typing import Final

from gpuprov.document.canonical import digest
from gpuprov.want.access import is_access_file
from gpuprov.want.cdi import CDI_PATH
from gpuprov.want.files import DAEMON_PATH, NOUVEAU_PATH, PINS_PATH
from gpuprov.want.kernel import KERNEL_PATH
from gpuprov.want.mounts import is_mount_unit
from gpuprov.want.tuning import UNIT, is_tuning_file
from gpuprov.want.types import AccessWant, PoolWant, ServiceWant, TuningWant

_SOFTWARE_FILES: Final = frozenset({CDI_PATH, DAEMON_PATH, KERNEL_PATH, NOUVEAU_PATH, PINS_PATH})
"""Files that belong to the packages. The spec's other files are cheap on a running host: no reason for an image."""
_FORM: Final = 1
"""Number of this digest's form: a change of what it covers makes every image outdated at once."""


def baked_digest(want: PoolWant) -> str:
    """The digest over what an image of the pool holds: packages, sources, module settings, services.

    It is the same for the pool's own want and for its builder's, and for pools that differ in nothing of this.
    """
    return digest(
        {
            "form": _FORM,
            "os": want.os,
            "arch": want.arch,
            "on_disk": want.on_disk,
            "packages": [asdict(package) for package in sorted(want.packages, key=lambda p: p.name)],
            "sources": [asdict(source) for source in sorted(want.sources, key=lambda s: s.name)],
            "files": [asdict(f) for f in sorted(want.files, key=lambda f: f.path) if f.path in _SOFTWARE_FILES],
            **({"frameworks": want.frameworks.environment} if want.frameworks else {}),
            # `active` is about a running host: a unit that needs GPUs is off on the builder.
            "services": sorted((service.name, service.enabled) for service in want.services if service.name != UNIT),
        }
    )


def builder_want(want: PoolWant) -> PoolWant:
    """The want of the host that an image is made of: the same software, and nothing that needs GPUs.

    Units that need the loaded driver are enabled, so that hosts started from the image run them, and off; exporters
    that such units serve are not asked; the spec's verify commands belong to the pool's hosts. Who may log in and how a
    host is tuned are a running host's, like its disks: an image would keep a key that the spec has long taken back.
    """
    dark = {service.exporter for service in want.services if service.gpu and service.exporter}
    built = replace(
        want,
        driver=None,
        gpu=None,
        kernel_runs=False,
        verify=(),
        services=tuple(_without_gpus(service) for service in want.services if service.name != UNIT),
        files=tuple(file for file in want.files if not _of_running_hosts(file.path)),
        mounts=(),
        access=AccessWant(),
        tuning=TuningWant(),
        exporters=tuple(name for name in want.exporters if name not in dark),
        digest="",
    )
    return replace(built, digest=digest(asdict(built)))


def _of_running_hosts(path: str) -> bool:
    return is_access_file(path) or is_tuning_file(path) or is_mount_unit(path)


def _without_gpus(service: ServiceWant) -> ServiceWant:
    return replace(service, active=False) if service.gpu else service
