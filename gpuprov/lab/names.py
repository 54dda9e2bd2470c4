"""The names and places of what a lab makes on the machine: each carries the lab's id and can be found again."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/var/lib/gpuprov-lab")
"""Where labs keep their records and the disks of their nodes."""
NETNS_FOLDER = Path("/run/netns")
"""Where `ip netns` pins network namespaces."""
ID_PATTERN = re.compile(r"[a-z0-9]{1,6}")
"""What a lab id may be: short enough for a network interface's name (15 letters)."""


@dataclass(frozen=True, slots=True)
class LabNames:
    """All names of one lab.

    Args:
        id: the lab's id.

    Raises:
        ValueError: the id does not fit `ID_PATTERN`.
    """

    id: str

    def __post_init__(self) -> None:
        """Refuse an id that could match another lab's names."""
        if not ID_PATTERN.fullmatch(self.id):
            raise ValueError(f"a lab id has one to six lower case letters and digits, not {self.id!r}")

    @property
    def prefix(self) -> str:
        """What each of the lab's names begins with; ends with a hyphen, so that no id is the beginning of another."""
        return f"gpl-{self.id}-"

    @property
    def folder(self) -> Path:
        """The lab's own folder."""
        return ROOT / self.id

    @property
    def record(self) -> Path:
        """The lab's record, written before each thing is made."""
        return self.folder / "state.json"

    @property
    def router_namespace(self) -> str:
        """The network namespace of the router."""
        return f"{self.prefix}router"

    @property
    def host_link(self) -> str:
        """The machine's end of the link to the router."""
        return f"{self.prefix}host"

    @property
    def table(self) -> str:
        """The nftables table (family inet), on the machine and in the router."""
        return f"gpl_{self.id}"

    @property
    def cgroup(self) -> str:
        """The lab's cgroup in every hierarchy."""
        return f"gpl-{self.id}"

    @property
    def supervisors_cgroup(self) -> str:
        """The cgroup of the processes that watch over nodes, and of the package repository."""
        return f"{self.cgroup}/supervisors"

    @property
    def repository(self) -> Path:
        """The folder of the vendor's packages."""
        return self.folder / "repository"

    def node_namespace(self, name: str) -> str:
        """The network namespace of a node."""
        return f"{self.prefix}{name}"

    def node_link(self, place: int) -> str:
        """The router's end of the link to the node at this place in the description."""
        return f"{self.prefix}n{place}"

    def node_cgroup(self, name: str) -> str:
        """The cgroup of a node; its supervisor is outside."""
        return f"{self.cgroup}/node-{name}"

    def node_folder(self, name: str) -> Path:
        """The folder of a node: upper, work, root, docker, console.log."""
        return self.folder / "nodes" / name

    @property
    def cloud_folder(self) -> Path:
        """The folder of all that the simulated cloud keeps: networks, metadata, images, volumes."""
        return self.folder / "cloud"

    @property
    def vpcs_folder(self) -> Path:
        """The folder with one folder for each VPC."""
        return self.cloud_folder / "vpcs"

    def vpc_folder(self, vpc_id: str) -> Path:
        """The folder of a VPC: its record, its links, the metadata of its instances."""
        return self.vpcs_folder / vpc_id

    @property
    def images_folder(self) -> Path:
        """The folder of the machine images that were made in the lab: the upper layers of their disks."""
        return self.cloud_folder / "images"

    @property
    def volumes_folder(self) -> Path:
        """The folder of the files behind volumes; a loop device of one of them belongs to the lab."""
        return self.cloud_folder / "volumes"

    def vpc_namespace(self, vpc_id: str) -> str:
        """The network namespace of a VPC's router."""
        return f"{self.prefix}{vpc_id}"

    def vpc_cgroup(self, vpc_id: str) -> str:
        """The cgroup of a VPC's metadata service."""
        return f"{self.cgroup}/{vpc_id}"

    def vpc_link(self, number: int) -> str:
        """The machine's end of the link to the router of the VPC with this number (to 999)."""
        return f"{self.prefix}v{number}"

    def instance_link(self, number: int) -> str:
        """The router's end of the link to the instance with this number (to 999) in its VPC."""
        return f"{self.instance_links}{number}"

    @property
    def instance_links(self) -> str:
        """What the names of all links to instances begin with."""
        return f"{self.prefix}i"

    @property
    def vpc_links(self) -> str:
        """What the names of all links to the routers of VPCs begin with."""
        return f"{self.prefix}v"

    @property
    def groups_table(self) -> str:
        """The nftables table (family inet) of the security groups, in the router of a VPC."""
        return f"{self.table}_groups"

    def machine(self, name: str) -> str:
        """The name that systemd-nspawn knows a node by."""
        return f"{self.prefix}{name}"
