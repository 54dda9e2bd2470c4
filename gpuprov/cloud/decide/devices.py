"""Device names: the slot of a host in which a volume is attached."""

import hashlib
from collections.abc import Collection, Mapping
from typing import Final

from gpuprov.cloud.decide.refusals import refuse

DEVICES: Final = tuple(f"/dev/sd{letter}" for letter in "fghijklmnop")
"""What AWS recommends for EBS volumes (Amazon EC2 User Guide, Device names for volumes, read 2026-11-30). On today's
instances the kernel shows NVMe names of its own; this one only names the slot, and the volume's id is its serial."""


def assign_devices(storages: Collection[str], attached: Mapping[str, str]) -> dict[str, str]:
    """Give each storage a device name of one host.

    Another name means detaching a volume from a running host, so what is attached keeps its name for life. A new one
    takes the slot that its own name points to, so that the hosts of a pool agree whatever order the storages came in.

    Args:
        storages: names of the spec's volumes.
        attached: storage name -> device name, as it is now.

    Raises:
        GpuprovError: GP-SPEC-005 when there are more volumes than device names.
    """
    if len(storages) > len(DEVICES):
        raise refuse(
            "GP-SPEC-005",
            f"the spec has {len(storages)} volumes for each host",
            address="storage",
            detail=f"AWS recommends {len(DEVICES)} device names, {DEVICES[0]} to {DEVICES[-1]}.",
            hint="make fewer and larger volumes",
        )
    given = {name: attached[name] for name in storages if name in attached}
    # A volume that goes away in the same run still holds its slot until then.
    taken = set(attached.values()) if len(set(attached) | set(storages)) <= len(DEVICES) else set(given.values())
    for name in sorted(set(storages) - set(given)):
        start = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) % len(DEVICES)
        free = next(d for d in DEVICES[start:] + DEVICES[:start] if d not in taken)
        given[name] = free
        taken.add(free)
    return given
