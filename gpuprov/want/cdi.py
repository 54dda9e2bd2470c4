"""CDI: the unit that describes the GPUs to containers, anew at each boot and whenever the description is stale."""

from typing import Final

from gpuprov.want.files import MARKER
from gpuprov.want.types import FileWant, PoolWant, ServiceWant

CDI_UNIT: Final = "gpuprov-cdi"
CDI_PATH: Final = f"/etc/systemd/system/{CDI_UNIT}.service"
CDI_STATE: Final = "stack.cdi.state"
"""The fact that says whether the description fits the driver."""

_CTK: Final = "/usr/bin/nvidia-ctk"
# The description lies in /var/run: one that a boot found would be of the driver before it (case A20). It is the place
# of the toolkit's own nvidia-cdi-refresh (Container Toolkit 1.18, 2025-11), which writes the same there. One that an
# administrator made in /etc/cdi is read by engines too, so that it is kept fitting. The links keep running containers
# their GPUs when systemd reloads its units (case A19; Container Toolkit's release notes, 2026-08-21).
_TEXT: Final = f"""{MARKER}
[Unit]
Description=Describe the GPUs to containers (CDI)
After=systemd-modules-load.service nvidia-persistenced.service nvidia-fabricmanager.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={_CTK} cdi generate --output=/var/run/cdi/nvidia.yaml
ExecStart=/bin/sh -c 'f=/etc/cdi/nvidia.yaml; test ! -e $f || exec {_CTK} cdi generate --output=$f'
ExecStart={_CTK} system create-dev-char-symlinks --create-all
ExecStop=/bin/rm -f /var/run/cdi/nvidia.yaml

[Install]
WantedBy=multi-user.target
"""


def cdi_file() -> FileWant:
    """The unit's file."""
    return FileWant(path=CDI_PATH, text=_TEXT)


def cdi_service() -> ServiceWant:
    """The unit: it needs the loaded driver, and nothing has to restart it but a description that does not fit."""
    return ServiceWant(name=CDI_UNIT, gpu=True)


def wants_cdi(pool: PoolWant) -> bool:
    """Whether the hosts must have a description that fits: not on the builder of an image, which has no GPUs."""
    return any(service.name == CDI_UNIT and service.active for service in pool.services)
