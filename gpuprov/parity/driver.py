"""A driver is four facts: packages, module on disk, loaded module, NVML; and what they say together."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from gpuprov.document.canonical import canonical_json
from gpuprov.document.snapshot_text import observation_value
from gpuprov.model.address import split_address
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import Snapshot
from gpuprov.model.version import compare_driver, upstream
from gpuprov.parity.types import Compared, DriverFacts, DriverRow, DriverState

_PACKAGES: Final = re.compile(
    r"libcuda1|libnvidia-compute(-[0-9]+(-server)?)?|nvidia-(kernel(-open)?-dkms|open-kernel-dkms|dkms-[0-9]+.*)"
)
"""The packages that carry libcuda and the kernel module; others of the driver's set have versions of their own.

Names of Debian's and Ubuntu's archives and of NVIDIA's repositories (the sources of catalog/data/packages.json).
"""


def driver_facts(snapshot: Snapshot) -> DriverFacts:
    """Take the four facts out of a snapshot."""
    return DriverFacts(
        package=_package(snapshot),
        on_disk=snapshot.observe("stack.driver.on_disk"),
        loaded=snapshot.observe("stack.driver.loaded"),
        nvml=snapshot.observe("stack.driver.nvml"),
        gpus=snapshot.observe("gpu.count") != Known(0),
    )


def tells_driver(address: str) -> bool:
    """Whether the four facts, or what they mean, are taken from an address."""
    return address.startswith("stack.driver.") or address == "gpu.count" or _tells_driver(address)


def driver_state(facts: DriverFacts) -> DriverState:
    """Say what the four facts mean together."""
    in_use = tuple(side for side in (facts.loaded, facts.nvml) if facts.gpus or not isinstance(side, Absent))
    sides = (facts.package, facts.on_disk, *in_use)
    if isinstance(facts.on_disk, Known) and isinstance(facts.loaded, Known) and not _same(facts.on_disk, facts.loaded):
        return DriverState.REBOOT_PENDING
    known = [side for side in sides if isinstance(side, Known)]
    if any(_same(known[0], other) is False for other in known[1:]):
        return DriverState.MIXED
    if any(isinstance(side, Unknown) for side in sides):
        return DriverState.UNKNOWN
    if not known:
        return DriverState.ABSENT
    return DriverState.EQUAL if len(known) == len(sides) else DriverState.MIXED


def driver_rows(compared: Sequence[Compared]) -> tuple[DriverRow, ...]:
    """Put hosts with the same four facts together; the largest row first."""
    rows: dict[str, list[Compared]] = {}
    for host in compared:
        if host.driver is not None:
            rows.setdefault(_key(host.driver), []).append(host)
    ordered = sorted(rows.values(), key=len, reverse=True)
    return tuple(
        DriverRow(facts=facts, state=driver_state(facts), hosts=tuple(member.host for member in members))
        for members in ordered
        if (facts := members[0].driver) is not None
    )


def _package(snapshot: Snapshot) -> Observation:
    family = snapshot.families.get("package", Unknown("no collector looked for package"))
    if isinstance(family, Unknown):
        return family
    return _one_version(_driver_versions(snapshot))


def _driver_versions(snapshot: Snapshot) -> Iterable[Observation]:
    return (snapshot.observe(address) for address in snapshot.facts if _tells_driver(address))


@lru_cache(maxsize=1 << 14)
def _tells_driver(address: str) -> bool:
    """Whether an address is the version of a package that carries the driver; a fleet asks of the same ones."""
    parts = split_address(address)
    return parts is not None and parts[::2] == ("package", "version") and _PACKAGES.fullmatch(parts[1]) is not None


def _one_version(found: Iterable[Observation]) -> Observation:
    versions = sorted({_upstream(str(seen.value)) for seen in found if isinstance(seen, Known)})
    if not versions:
        return Absent()
    return Known(versions[0]) if len(versions) == 1 else Known(list(versions))


def _upstream(version: str) -> str:
    try:
        return upstream(version)
    except ValueError:
        return version


def _same(first: Known, second: Known) -> bool:
    one, other = str(first.value), str(second.value)
    # NVML can print two of three parts: that contradicts nothing (case A01).
    if one.startswith(f"{other}.") or other.startswith(f"{one}."):
        return True
    try:
        return compare_driver(one, other) == 0
    except ValueError:
        return one == other


def _key(facts: DriverFacts) -> str:
    return canonical_json(
        [facts.gpus, *(observation_value(side) for side in (facts.package, facts.on_disk, facts.loaded, facts.nvml))]
    )
