"""What a lab is, as plain frozen values: nodes, simulated GPUs, address range and the driver releases on offer."""

from dataclasses import dataclass
from ipaddress import IPv4Network


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuDescription:
    """The GPUs that one node shows: hardware only, nothing of the software under test."""

    model: str
    """The catalog's id, for example "H100-SXM5-80GB"."""
    nvml_name: str
    """The name that NVML and nvidia-smi report, for example "NVIDIA H100 80GB HBM3"."""
    count: int
    """How many GPUs the node has, at least 1."""
    nvswitch: bool
    """Whether the node has NVSwitches, so that Fabric Manager is needed."""
    pci_device: str
    """The PCI device id under NVIDIA's vendor id 10de: four lower case hexadecimal digits."""
    memory_mib: int
    """The memory of one GPU in MiB, as nvidia-smi prints it."""
    faults: tuple[str, ...] = ()
    """Names of faults to show (the vendor's half of the lab knows them); empty for a healthy node."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeDescription:
    """One node of the lab: a real system with its own init, sshd and apt."""

    name: str
    """The host name, unique in the lab."""
    os: str
    """The OS id: "debian-12" or "debian-13"."""
    address: str
    """The IPv4 address inside the lab's subnet."""
    group: str
    """The inventory group: "train" or "cpu"."""
    gpu: GpuDescription | None = None
    """The simulated GPUs; None for a host without any."""
    user: str = "admin"
    """The login user, who may use sudo."""
    sudo_password: str | None = None
    """The password that sudo asks for; None lets the user use sudo without one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudDescription:
    """The simulated AWS of a lab, and what the handed-out spec asks of it."""

    region: str
    """A region that offers the instance type."""
    account: str
    """The account's number, 12 digits."""
    cidr: str
    """The private range of the network in the spec, in CIDR form."""
    public_range: str
    """Where public addresses come from: a /24 inside 198.18.0.0/15 (benchmark range of RFC 2544), free on the machine.
    The first 32 addresses belong to the routers of VPCs, the last one to nobody."""
    api_port: int
    """The loopback TCP port of AWS's API."""
    plugin_port: int
    """The loopback TCP port of the resource plugin."""
    instance: str
    """The type of the train pool's instances: the GPUs of the rack's train hosts."""
    hosts: tuple[str, ...]
    """Names of the train pool's hosts in the cloud; none is a name in the rack."""
    base_image: str
    """The id of the OS vendor's image, for example "ami-0123456789abcdef0"."""
    base_image_name: str
    """Its name, in Debian's form: `debian-12-amd64-YYYYMMDD-NNNN`."""
    base_image_owner: str = "136693071363"
    """The account that publishes Debian's images (wiki.debian.org/Cloud/AmazonEC2Image, 2026-11-30)."""

    @property
    def endpoint(self) -> str:
        """Where AWS's API answers on this machine."""
        return f"http://127.0.0.1:{self.api_port}"

    @property
    def public_network(self) -> IPv4Network:
        """The range of public addresses as a value."""
        return IPv4Network(self.public_range)


@dataclass(frozen=True, kw_only=True, slots=True)
class LabDescription:
    """A whole lab: everything that `up` needs and nothing that it finds out."""

    id: str
    """One to six lower case letters and digits; part of the name of everything that the lab makes on the machine."""
    seed: int
    """The number that the lab was drawn from."""
    subnet: str
    """The lab's IPv4 range, a /24 in CIDR form."""
    router: str
    """The router's address in the subnet: the nodes' gateway and the address of the package repository."""
    host: str
    """The machine's own address in the subnet."""
    nodes: tuple[NodeDescription, ...]
    """All nodes, in the order of the inventory."""
    driver_branch: str
    """The driver branch that the spec asks for, for example "580"."""
    driver_releases: tuple[str, ...]
    """The releases of the branch that the lab's repository offers, oldest first."""
    cuda: str = "13.0"
    """The CUDA toolkit release that the spec asks for."""
    repository_port: int = 8080
    """The TCP port of the package repository on the router."""
    cloud: CloudDescription | None = None
    """The simulated AWS; None for a lab without it."""

    @property
    def repository_url(self) -> str:
        """Where the nodes reach the vendor's packages."""
        return f"http://{self.router}:{self.repository_port}/"

    @property
    def network(self) -> IPv4Network:
        """The subnet as a value."""
        return IPv4Network(self.subnet)

    def node(self, name: str) -> NodeDescription:
        """Return the node with this name.

        Raises:
            KeyError: the lab has no such node.
        """
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)
