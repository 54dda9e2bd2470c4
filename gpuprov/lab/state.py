"""What a lab is now, as values: made by `up`, observed by `status`."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from gpuprov.lab.description import LabDescription


class Power(StrEnum):
    """Whether a node runs."""

    ON = "on"
    """Its init is running."""
    OFF = "off"
    """It has been powered off; its disk is kept."""
    MISSING = "missing"
    """It was never made, or its disk is gone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LabState:
    """A lab that is up."""

    description: LabDescription
    folder: Path
    """Where the person's files are: inventory, keys, spec, ssh_config."""

    @property
    def id(self) -> str:
        """The lab's id."""
        return self.description.id


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeStatus:
    """One node as it was observed."""

    name: str
    address: str
    power: Power
    ssh: bool
    """Whether sshd answers on the node's address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceStatus:
    """One instance of the lab's cloud as it was observed."""

    id: str
    private_address: str
    public_address: str | None
    power: Power


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudStatus:
    """A lab's simulated AWS as it was observed."""

    account: str
    region: str
    endpoint: str
    api: bool
    """Whether the API's port answers."""
    plugin: bool
    """Whether the resource plugin's port answers."""
    instances: tuple[InstanceStatus, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LabStatus:
    """One lab as it was observed."""

    id: str
    phase: str
    """What the lab's record says: "making", "up" or "removing"; the others may be a leftover."""
    nodes: tuple[NodeStatus, ...]
    repository: bool
    """Whether the package repository answers on the router."""
    folder: Path | None
    """Where the person's files are; None when the lab's record is lost."""
    cloud: CloudStatus | None = None
    """The simulated AWS; None for a lab without it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Leftovers:
    """What of a lab is still on the machine."""

    id: str
    namespaces: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    mounts: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()
    """Loop devices on the lab's files: volumes of the cloud."""
    cgroups: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    """Names of nftables tables."""
    processes: tuple[int, ...] = ()
    """Process ids inside the lab's cgroups."""
    folders: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing is left."""
        return not (
            self.namespaces
            or self.links
            or self.mounts
            or self.loops
            or self.cgroups
            or self.tables
            or self.processes
            or self.folders
        )
