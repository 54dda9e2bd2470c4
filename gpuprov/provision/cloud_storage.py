"""Where a cloud host finds the storage that was made for it."""

from collections.abc import Iterable
from typing import Final

from gpuprov.cloud.types import Made

_BY_ID: Final = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_"
"""Where udev shows a volume: on instances of the Nitro system the volume's id, without its dash, is the serial number
of the NVMe device (Amazon EBS User Guide, Map Amazon EBS volumes to NVMe device names, read 2026-11-30), and systemd's
60-persistent-storage.rules name the link by model and serial number. Every instance type of the catalog is a Nitro
one; on another there is no such link, and the disk is told as missing."""
_ROOT: Final = "/"
"""EFS exports its root (Amazon EFS User Guide, Mounting, read 2026-11-30)."""


def storage_of(made: Made, hosts: Iterable[str]) -> dict[str, dict[str, str]]:
    """Host -> storage -> where it finds it: path of the volume's device, or SERVER:EXPORT of a share.

    Args:
        made: what the stack holds.
        hosts: names of the hosts.
    """
    shares = {name: f"{server}:{_ROOT}" for name, server in made.shares.items() if server}
    volumes: dict[str, dict[str, str]] = {}
    for name, identity in made.volumes.items():
        storage, _, host = name.partition("/")
        volumes.setdefault(host, {})[storage] = f"{_BY_ID}{identity.replace('-', '')}"
    return {host: {**volumes.get(host, {}), **shares} for host in hosts}
