"""Where a cloud host finds the storage that was made for it."""

from typing import Final

from gpuprov.cloud.types import Made

_BY_ID: Final = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_"
"""Where udev shows a volume: on instances of the Nitro system the volume's id, without its dash, is the serial number
of the NVMe device (Amazon EBS User Guide, Map Amazon EBS volumes to NVMe device names, read 2026-11-30), and systemd's
60-persistent-storage.rules name the link by model and serial number. Every instance type of the catalog is a Nitro
one; on another there is no such link, and the disk is told as missing."""
_ROOT: Final = "/"
"""EFS exports its root (Amazon EFS User Guide, Mounting, read 2026-11-30)."""


def storage_of(made: Made, host: str) -> dict[str, str]:
    """Storage -> where a host finds it: path of the volume's device, or SERVER:EXPORT of a share.

    Args:
        made: what the stack holds.
        host: the host's name.
    """
    volumes = {
        name.partition("/")[0]: f"{_BY_ID}{identity.replace('-', '')}"
        for name, identity in made.volumes.items()
        if name.partition("/")[2] == host
    }
    return {**volumes, **{name: f"{server}:{_ROOT}" for name, server in made.shares.items() if server}}
